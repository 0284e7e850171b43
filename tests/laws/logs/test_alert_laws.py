"""Alerts are what a simple model finds in random histories; rows of histories have them as the log does."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
from hypothesis import given, strategies as st
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.logs import LOCAL, Accounts, AlertFinder, ReadMode, ReadOptions, find_log_files
from kafkawire.logs.alerts.finding import Alert
from kafkawire.logs.alerts.turns import WATCHED
from kafkawire.logs.alerts.watching import WatchedLog
from kafkawire.logs.folding.metadata_history import MetadataHistory, read_together
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.protocol import (
    AccessControlEntryRecord,
    ConfigRecord,
    NoOpRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message, Uuid

TOPIC, CLUSTER = 2, 4
LITERAL, PREFIXED = 3, 4
DENY, ALLOW = 2, 3
ALL, READ, ALTER = 2, 3, 7
NAMES = ("a", "b", "*")
WEEK = 604_800_000


class Acl(NamedTuple):
    """An ACL by its numbers, as its record has it."""

    resource_type: int
    name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


acls = st.builds(
    Acl,
    st.sampled_from((TOPIC, CLUSTER)),
    st.sampled_from(NAMES),
    st.sampled_from((LITERAL, PREFIXED)),
    st.sampled_from(("User:ann", "User:*")),
    st.sampled_from(("*", "10.0.0.1")),
    st.sampled_from((ALL, READ, ALTER)),
    st.sampled_from((DENY, ALLOW)),
)
numbers = st.integers(1, 3)
names = st.sampled_from(NAMES[:2])
values = st.sampled_from((None, "-1", "1", "2", str(WEEK), str(WEEK + 1), "many"))


class Made(NamedTuple):
    """A record, and what is to be alerted at it."""

    record: Message
    expected: tuple[tuple[str, str, str | None], ...]


class Model:
    """The state of a cluster, and the rules, as simply as can be."""

    def __init__(self) -> None:
        self.acls: dict[int, Acl] = {}
        self.topics: dict[int, str] = {}
        self.left: dict[str, set[int]] = {}
        self.configs: dict[str, str] = {}
        self.iterations: dict[str, int] = {}

    def add_acl(self, number: int, acl: Acl) -> Iterator[tuple[str, str, str | None]]:
        """Add an ACL whose id is free."""
        self.acls[number] = acl
        if acl.permission == ALLOW:
            if acl.principal == "User:*":
                yield "everyone-granted", acl.name, acl.principal
            if acl.name == "*" and acl.pattern_type == LITERAL:
                yield "every-resource-granted", acl.name, acl.principal
            if acl.resource_type == CLUSTER and acl.operation in (ALL, ALTER) and acl.host == "*":
                yield "cluster-control-granted", acl.name, acl.principal

    def remove_acl(self, number: int) -> Iterator[tuple[str, str, str | None]]:
        """Remove an ACL that is there."""
        acl = self.acls.pop(number)
        for left in self.left.values():
            left.discard(number)
        if acl.permission == DENY:
            yield "deny-removed", acl.name, acl.principal

    def create_topic(self, number: int, name: str) -> Iterator[tuple[str, str, str | None]]:
        """Create a topic whose id and name are free."""
        self.topics[number] = name
        for principal in self._principals(self.left.pop(name, set())):
            yield "acl-inherited", name, principal

    def delete_topic(self, number: int) -> Iterator[tuple[str, str, str | None]]:
        """Delete a topic that is there."""
        name = self.topics.pop(number)
        self.configs.pop(name, None)
        left = {
            number
            for number, acl in self.acls.items()
            if (acl.resource_type, acl.name, acl.pattern_type) == (TOPIC, name, LITERAL)
        }
        self.left[name] = left
        for principal in self._principals(left):
            yield "acl-of-deleted-topic", name, principal

    def set_retention(self, name: str, value: str | None) -> Iterator[tuple[str, str, str | None]]:
        """Set the retention of a topic, or unset it."""
        before = self.configs.pop(name, None)
        if value is None:
            if before is not None:
                yield "retention-unset", name, None
            return
        self.configs[name] = value
        old = str(WEEK) if before is None else before
        if "many" not in (old, value) and _limit(value) < _limit(old):
            yield "retention-shortened", name, None

    def set_password(self, user: str, iterations: int) -> Iterator[tuple[str, str, str | None]]:
        """Set the password of a user."""
        if iterations < self.iterations.get(user, 0):
            yield "scram-iterations-lowered", user, f"User:{user}"
        self.iterations[user] = iterations

    def _principals(self, acls_: set[int]) -> list[str]:
        return [acl.principal for acl in sorted(map(self.acls.__getitem__, acls_))]


def _limit(value: str) -> float:
    return float("inf") if value == "-1" else float(value)


def _id(kind: str, number: int) -> Uuid:
    return Uuid(f"{kind}{number:015d}".encode())


@st.composite
def histories(draw: st.DrawFn) -> list[Made]:
    model, made, used = Model(), [], 0
    for _ in range(draw(st.integers(1, 25))):
        number, name = draw(numbers), draw(names)
        kind = draw(st.sampled_from(["acl", "topic", "config", "scram", "nothing"]))
        match kind:
            case "acl" if number in model.acls:
                record: Message = RemoveAccessControlEntryRecord(_id("a", number))
                made.append(Made(record, tuple(model.remove_acl(number))))
            case "acl":
                acl = draw(acls)
                made.append(Made(AccessControlEntryRecord(_id("a", number), *acl), tuple(model.add_acl(number, acl))))
            case "topic" if name in model.topics.values():
                (there,) = (each for each, its in model.topics.items() if its == name)
                made.append(Made(RemoveTopicRecord(_id("t", there)), tuple(model.delete_topic(there))))
            case "topic":
                used += 1
                made.append(Made(TopicRecord(name, _id("t", used)), tuple(model.create_topic(used, name))))
            case "config" if name in model.topics.values():
                value = draw(values)
                record = ConfigRecord(TOPIC, name, "retention.ms", value)
                made.append(Made(record, tuple(model.set_retention(name, value))))
            case "scram":
                iterations = draw(st.sampled_from((4096, 8192)))
                record = UserScramCredentialRecord(name, 1, bytes([len(made)]), b"k", b"k", iterations)
                made.append(Made(record, tuple(model.set_password(name, iterations))))
            case _:
                made.append(Made(NoOpRecord(), ()))
    return made


def written(folder: Path, history: Sequence[Made], segments: Sequence[int] = ()) -> Path:
    """Write a batch for each record, cut into segments at some offsets; the folder of the log."""
    steps = [Step(1000 + at, (each.record,)) for at, each in enumerate(history)]
    for begin, end in pairwise(sorted({0, *(cut for cut in segments if cut < len(steps)), len(steps)})):
        write_segment(folder / METADATA_LOG, begin, steps[begin:end])
    return folder / METADATA_LOG


def watched(folder: Path) -> WatchedLog:
    options = ReadOptions(mode=ReadMode.FAILFAST)
    return WatchedLog(find_log_files([folder]), FoldSource(options, Accounts(), LOCAL))


def found(alerts: Iterator[Alert]) -> list[tuple[int | None, str, str, str | None]]:
    return [(each.log_offset, each.rule, each.resource_name, each.principal) for each in alerts]


@given(histories())
def test_the_alerts_of_a_log_are_those_of_a_simple_model(history: list[Made]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        alerts = found(watched(written(Path(folder), history)).read())
    assert alerts == [(at, *each) for at, made in enumerate(history) for each in made.expected]


OFFSETS = (pa.field("from_offset", pa.int64()), pa.field("to_offset", pa.int64()))


def rows_at(folder: Path, high_watermark: int) -> dict[str, list[dict[str, object]]]:
    """The rows of the histories up to an offset, with their offsets: all that a job would have then."""
    options = ReadOptions(mode=ReadMode.FAILFAST, high_watermark=high_watermark)
    source, rows = FoldSource(options, Accounts(), LOCAL), dict[str, list[dict[str, object]]]()
    histories = [cast("MetadataHistory[Any]", HISTORIES[name]) for name in WATCHED]
    fields = {each.name: {field.name: field for field in (*each.fields(options), *OFFSETS)} for each in histories}
    schemas = {name: pa.schema(of_table.values()) for name, of_table in fields.items()}
    for name, batch in read_together(histories, find_log_files([folder]), schemas, source):
        rows.setdefault(name, []).extend(batch.to_pylist())
    return rows


@given(histories(), st.data())
def test_rows_of_histories_have_the_alerts_of_the_log_also_where_they_come_again_as_they_are_closed(
    history: list[Made], data: st.DataObject
) -> None:
    end, finder, alerts = len(history), AlertFinder(), []
    cuts = sorted(data.draw(st.lists(st.integers(0, end), max_size=4), label="cuts"))
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), history)
        for cut in (*cuts, end):
            alerts += found(iter(finder.find_in_rows(rows_at(Path(folder), cut))))
    assert alerts == [(at, *each) for at, made in enumerate(history) for each in made.expected]
