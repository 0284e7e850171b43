"""Made-up clusters: a metadata log and a log of committed offsets with many changes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.made.cluster_state import ClusterHappening, ClusterState, new_partition
from tests.made.logs import METADATA_LOG, OFFSETS_LOG, Step, Written, write_offsets_segment, write_segment

from kafkawire.protocol import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message, Uuid

BEGAN: Final = 1_767_225_600_000  # 2026-01-01
_OPERATIONS: Final = (3, 4, 8)
_ALLOW: Final = 3
_DENY: Final = 2


@dataclass
class MadeCluster:
    """Writes the logs of a cluster into a folder.

    Args:
        folder: of the data of a broker.
        cluster: the cluster's id.
        seed: other clusters have other changes.
    """

    folder: Path
    cluster: str
    seed: int

    def write(self, *, acls: int, changes: int, commits: int) -> None:
        """Write the logs.

        Args:
            acls: how many are added; a third of them is removed again.
            changes: of topics, quotas, configurations and users together; and half as many of nodes, features, tokens
                and the partitions of one more topic.
            commits: of 40 groups; some are deleted.
        """
        self.folder.mkdir(parents=True)
        (self.folder / "meta.properties").write_text(f"version=1\ncluster.id={self.cluster}\n")
        self._random = random.Random(self.seed)
        steps = [*self._acls(acls), *self._changes(changes), *self._nodes(changes // 2)]
        steps.sort(key=lambda step: step.time)
        write_segment(self.folder / METADATA_LOG, 0, steps)
        write_offsets_segment(self.folder / OFFSETS_LOG, 0, self._commits(commits))

    def _acls(self, count: int) -> list[Step]:
        chosen, steps = self._random, list[Step]()
        for number in range(count):
            acl = AccessControlEntryRecord(
                self._id(1, number),
                2,
                f"t{chosen.randrange(count)}",
                chosen.choice((3, 3, 3, 4)),
                f"User:u{chosen.randrange(max(2, count // 20))}",
                "*",
                chosen.choice(_OPERATIONS),
                chosen.choices((_ALLOW, _DENY), (9, 1))[0],
            )
            added = BEGAN + chosen.randrange(10**9)
            steps.append(Step(added, (acl,)))
            if chosen.random() < 1 / 3:
                steps.append(Step(added + chosen.randrange(10**8), (RemoveAccessControlEntryRecord(acl.id),)))
        return steps

    def _changes(self, count: int) -> list[Step]:
        chosen, steps = self._random, list[Step]()
        topics = dict[str, Uuid]()
        times = sorted(BEGAN + chosen.randrange(10**9) for _ in range(count))
        for number, time in enumerate(times):
            name = f"t{chosen.randrange(max(2, count // 4))}"
            made: tuple[Message, ...]
            match number % 4:
                case 0 if name in topics:
                    made = (RemoveTopicRecord(topics.pop(name)),)
                case 0:
                    topics[name] = self._id(2, number)
                    partition = PartitionRecord(0, topics[name], (1,), (1,), (), (), 1, 0, 0, 0, (self._id(3, 1),))
                    made = (TopicRecord(name, topics[name]), partition)
                case 1:
                    value = chosen.choice((None, "compact", "delete"))
                    made = (ConfigRecord(2, f"c{chosen.randrange(9)}", "cleanup.policy", value),)
                case 2:
                    user, mechanism = f"u{chosen.randrange(9)}", chosen.choice((1, 2))
                    secret = number.to_bytes(8, "big")
                    credential = UserScramCredentialRecord(user, mechanism, secret, secret, secret, 4096)
                    gone = RemoveUserScramCredentialRecord(user, mechanism)
                    made = (gone if chosen.random() < 1 / 4 else credential,)
                case _:
                    entity = (ClientQuotaRecord.EntityData("user", f"u{chosen.randrange(9)}"),)
                    rate = float(chosen.randrange(1, 4))
                    made = (ClientQuotaRecord(entity, "producer_byte_rate", rate, chosen.random() < 1 / 4),)
            steps.append(Step(time, made))
        return steps

    def _nodes(self, count: int) -> list[Step]:
        chosen, state = random.Random(self.seed), ClusterState()
        topic_id = self._id(4, 0)
        made: list[Message] = [TopicRecord("moving", topic_id)]
        made += [new_partition(topic_id, number, chosen) for number in range(5)]
        for record in made:
            state.apply(record)
        stuck = self._id(4, 1)
        made += [TopicRecord("stuck", stuck), PartitionRecord(0, stuck, (1,)), RegisterBrokerRecord(9)]
        made.append(DelegationTokenRecord("User:u1", "User:u1", (), 1, BEGAN, BEGAN, "kept"))
        steps = [Step(BEGAN, tuple(made))]
        for time in sorted(BEGAN + chosen.randrange(10**9) for _ in range(count)):
            record = ClusterHappening(state).record(chosen)
            state.apply(record)
            steps.append(Step(time, (record,)))
        return steps

    def _commits(self, count: int) -> list[Written]:
        chosen = self._random
        times = sorted(BEGAN + chosen.randrange(10**9) for _ in range(count))
        batches = []
        for offset, time in enumerate(times):
            key = OffsetCommitKey(f"g{chosen.randrange(40)}", "t", chosen.randrange(max(2, count // 100)))
            value = None if chosen.random() < 1 / 4 else OffsetCommitValue(offset, -1, "", time)
            batches.append(Written(time, ((key, value, 3),)))
        return batches

    def _id(self, kind: int, number: int) -> Uuid:
        return Uuid(bytes([self.seed, kind, *number.to_bytes(14, "big")]))
