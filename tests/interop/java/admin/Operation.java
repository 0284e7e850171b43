package admin;

import org.apache.kafka.clients.admin.Admin;

/** Something that Java's Admin does; its fields are those of the question, and what it returns is written as JSON. */
interface Operation {
    Object run(Admin admin) throws Exception;
}
