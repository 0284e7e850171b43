package admin;

import admin.Plain.Partition;

import org.apache.kafka.clients.admin.Admin;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Clients other than the Admin, which make groups and transactions: they stay until they are told to end. */
final class Actors {
    private static final Map<String, Actor> RUNNING = new HashMap<>();

    /** A client that keeps something open. */
    interface Actor {
        void end(boolean inGoodOrder) throws Exception;
    }

    record Produce(Map<String, String> client, Partition partition, List<String> values) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            return TransactionActor.produce(client, partition, values);
        }
    }

    record BeginTransaction(Map<String, String> client, String transactionalId, Partition partition)
        implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            return keep("transaction " + transactionalId, new TransactionActor(client, transactionalId, partition));
        }
    }

    record JoinGroup(Map<String, String> client, String group, List<String> topics, String kind)
        implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            return keep("member " + RUNNING.size() + " of " + group, MemberActor.joined(client, group, topics, kind));
        }
    }

    record EndActor(String name, boolean inGoodOrder) implements Operation {
        @Override
        public Object run(Admin admin) throws Exception {
            RUNNING.remove(name).end(inGoodOrder);
            return true;
        }
    }

    private Actors() {
    }

    private static String keep(String name, Actor actor) {
        RUNNING.put(name, actor);
        return name;
    }
}
