"""Groups of arguments and files are deleted, or a dry run says what would be, at an embedded broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import (
    BlockingAdminClient,
    ConsumerGroupDescription,
    ConsumerGroupMember,
    GroupState,
    GroupType,
    ShareGroupDescription,
    ShareGroupMember,
    StreamsGroupDescription,
    TopicPartition,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.groups.deleting import simulated_deletion, simulated_share_deletion
from kafkawire.cli.outcome import ExitCode
from kafkawire.model.groups.streams import (
    StreamsGroupMember,
    StreamsInternalTopic,
    StreamsSubtopology,
    StreamsTasks,
    StreamsTopology,
)

GROUPS = ("a", "b", "c")


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker({}, topics=["orders"]) as running:
        with BlockingAdminClient(running.bootstrap_servers) as client:
            for group in GROUPS:
                client.alter_consumer_group_offsets(group, {TopicPartition("orders", 0): 0}).all()
        yield running


@pytest.fixture
def groups(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("groups", broker.bootstrap_servers, capsys)


def test_what_list_prints_is_a_file_of_groups(groups: Command, tmp_path: Path) -> None:
    file = tmp_path / "groups"
    for form in ("json", "yaml", "jsonl", "name"):
        file.write_text(groups.text("list", "-o", form))
        statuses = groups.statuses("delete", "a", "--from", str(file), "--dry-run")
        assert statuses == dict.fromkeys(GROUPS, "would be done")
    assert groups.statuses("delete", "--from", str(file), "--yes") == dict.fromkeys(GROUPS, "done")
    assert groups.rows("list") == []


def test_the_question_has_the_first_names(groups: Command) -> None:
    groups.text("delete", *"abcdefg", code=ExitCode.USAGE)
    assert "delete a, b, c, d, e and 2 more with the committed offsets: there is no terminal" in groups.err


def test_without_a_name_nothing_is_deleted(groups: Command, tmp_path: Path) -> None:
    groups.text("delete", "--yes", code=ExitCode.USAGE)
    assert groups.err == "kafkawire: no group is named; give arguments or --from FILE\n"
    file = tmp_path / "groups"
    file.write_text("# none\n")
    groups.text("delete", "a", "--from", str(file), "--yes", code=ExitCode.USAGE)
    assert groups.err == f"kafkawire: {file}: it names no group; write a name on each line\n"


def test_a_dry_run_fails_for_a_group_that_does_not_exist(groups: Command) -> None:
    words = ["remove-members", "nothing", "--member", "m", "--dry-run"]
    [row] = groups.rows(*words, code=ExitCode.FAILED)
    assert (row["item"], row["error"]) == ("m", "GROUP_ID_NOT_FOUND")
    assert groups.statuses("delete", "a", "nothing", "--dry-run", code=ExitCode.SOME_FAILED) == {
        "a": "would be done",
        "nothing": "failed",
    }


def test_topics_without_offsets_are_named(groups: Command) -> None:
    words = ["delete-offsets", "a", "--topic", "orders", "--topic", "nope"]
    rows = groups.rows(*words, "--dry-run")
    assert [(row["item"], row["status"], row["reason"]) for row in rows] == [
        ("nope", "unchanged", "the group has committed no offsets there"),
        ("orders-0", "would be done", "simulated"),
    ]
    assert groups.statuses(*words, "--yes") == {"nope": "unchanged", "orders-0": "done"}


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
def test_offsets_of_a_group_that_does_not_exist_fail(option: str, groups: Command) -> None:
    [row] = groups.rows("delete-offsets", "nothing", "--topic", "orders", option, code=ExitCode.FAILED)
    assert (row["item"], row["error"]) == ("nothing", "GROUP_ID_NOT_FOUND")


def test_offsets_of_a_share_group_are_deleted(broker: ThreadedBroker, groups: Command) -> None:
    words = ["delete-offsets", "workers", "--topic", "orders", "--topic", "nope"]
    with BlockingAdminClient(broker.bootstrap_servers) as client:
        client.alter_share_group_offsets("workers", {TopicPartition("orders", 0): 0}).all()
        rows = groups.rows(*words, "--dry-run")
        assert [(row["item"], row["status"], row["reason"]) for row in rows] == [
            ("nope", "unchanged", "the group has committed no offsets there"),
            ("orders", "would be done", "simulated"),
        ]
        groups.text(*words, code=ExitCode.USAGE)
        assert "delete the offsets of workers in 1 topic: there is no terminal" in groups.err
        assert groups.statuses(*words, "--yes") == {"nope": "unchanged", "orders": "done"}
        assert client.list_share_group_offsets(["workers"])["workers"].all() == {}


def test_offsets_that_members_use_stay() -> None:
    member = ConsumerGroupMember("id", None, "billing", "/10.0.0.1", (), subscribed_topics=("orders",))
    group = ConsumerGroupDescription("a", GroupType.CONSUMER, GroupState.STABLE, 1, "range", (member,))
    partitions = [TopicPartition("orders", 0), TopicPartition("payments", 0)]
    assert [(row.status, row.error) for row in simulated_deletion(group, partitions)] == [
        ("failed", "GROUP_SUBSCRIBED_TO_TOPIC"),
        ("would be done", None),
    ]


def test_offsets_of_a_share_group_with_members_stay() -> None:
    member = ShareGroupMember("id", "worker", "/10.0.0.1", (), 1, ("orders",))
    group = ShareGroupDescription("workers", GroupState.STABLE, 1, "simple", (member,), 1, 1)
    assert [(row.item, row.status, row.error) for row in simulated_share_deletion(group, ["orders"])] == [
        ("orders", "failed", "NON_EMPTY_GROUP")
    ]


def test_offsets_of_topics_that_a_regular_expression_finds_stay() -> None:
    orders, payments = TopicPartition("orders", 0), TopicPartition("payments", 0)
    member = ConsumerGroupMember("id", None, "billing", "/10.0.0.1", (orders,), subscribed_regex="ord.*")
    group = ConsumerGroupDescription("a", GroupType.CONSUMER, GroupState.STABLE, 1, "uniform", (member,))
    assert [row.error for row in simulated_deletion(group, [orders, payments])] == ["GROUP_SUBSCRIBED_TO_TOPIC", None]


@pytest.mark.parametrize(
    ("members", "errors"),
    [(1, ["GROUP_SUBSCRIBED_TO_TOPIC", "GROUP_SUBSCRIBED_TO_TOPIC", None]), (0, [None, None, None])],
)
def test_offsets_of_topics_that_a_streams_application_reads_stay(members: int, errors: list[str | None]) -> None:
    made = StreamsInternalTopic("app-repartition", None, None, {})
    topology = StreamsTopology(1, (StreamsSubtopology("0", ("orders",), (), (), (made,)),))
    member = StreamsGroupMember(
        "id", 1, None, None, "app", "/10.0.0.1", 1, "p", None, {}, {}, {}, StreamsTasks(), StreamsTasks(),
        is_classic=False,
    )  # fmt: skip
    group = StreamsGroupDescription("app", GroupState.STABLE, 1, topology, (member,) * members, 2, 2)
    partitions = [TopicPartition(topic, 0) for topic in ("orders", "app-repartition", "payments")]
    assert [row.error for row in simulated_deletion(group, partitions)] == errors
