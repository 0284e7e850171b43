"""Sixth chapter: the history of one ACL, and what changed between two dates, both from the broker's log alone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from kafkawire.admin import (
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigResource,
)
from kafkawire.cli.demo.stage import Stage, now, timed
from kafkawire.cli.demo.users import SHUT_OUT
from kafkawire.cli.tables.cells import as_plain_columns
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.logs import read_table

_Row = Mapping[str, object]
_State = Mapping[tuple[str, str], str]
"""What holds at a time: kind and name of a thing, and its value."""

_TABLES: Final = ("acl_history", "quota_history", "config_history")
_SECONDS_BETWEEN: Final = 0.005
"""Times of logs are in milliseconds; the changes lie at other ones than the two dates."""


def show(stage: Stage) -> None:
    """Change an ACL, a quota and a configuration, and read from the log what was when.

    Raises:
        CommandError: the broker does not start, or the log cannot be read.
        KafkaError: the broker does not respond.
    """
    stage.prepare()
    before = now()
    time.sleep(_SECONDS_BETWEEN)
    _change(stage.broker.bootstrap_servers)
    time.sleep(_SECONDS_BETWEEN)
    after = now()
    stage.changed = before, after
    with command_errors(), timed() as seconds:
        rows = {table: list(_rows(table, stage.metadata_log)) for table in _TABLES}
    number = sum(map(len, rows.values()))
    stage.say(
        f"From the files of the broker's log, without the broker: {number:,} rows of {len(_TABLES)} histories in "
        f"{seconds[0]:.2f} s. What {SHUT_OUT.principal} had, and when (UTC):"
    )
    own = [row for row in rows["acl_history"] if row["principal"] == SHUT_OUT.principal]
    stage.table(("permission", "operation", "resource", "from", "to"), list(map(_cells, own)))
    stage.gap()
    stage.say("What changed between two dates, in ACLs, quotas and configurations:")
    stage.item(f"{before}  and  {after}", "bold")
    was, is_now = (dict(_state(rows, at)) for at in (before, after))
    stage.table(("what", "of", "before", "after"), list(_changes(was, is_now)))
    stage.gap()
    stage.say("From the command line, the configurations at the first date:")
    stage.command("tables", "--log", stage.metadata_log, "--table", "config_history", "--as-of", before)


def _change(bootstrap_servers: str) -> None:
    """Three changes: an ACL is deleted, a quota is raised, a configuration is altered."""
    quota = ClientQuotaAlteration(ClientQuotaEntity.of_user("user-0042"), {"consumer_byte_rate": 3_000_000})
    retention = {ConfigResource.topic("audit"): [ConfigChange.set("retention.ms", "86400000")]}
    with BlockingAdminClient(bootstrap_servers) as client:
        client.delete_acls((SHUT_OUT.to_filter(),)).all()
        client.alter_client_quotas((quota,)).all()
        client.incremental_alter_configs(retention).all()


def _rows(table: str, log: Path) -> Iterator[_Row]:
    for batch in read_table(table, log):
        yield from as_plain_columns(batch).to_pylist()


def _cells(row: _Row) -> Sequence[str | Text]:
    kind, name, pattern = (str(row[column]) for column in ("resource_type", "resource_name", "pattern_type"))
    permission, end = str(row["permission"]), row["valid_to"]
    return (
        Text(permission, "red" if permission == "DENY" else "green"),
        str(row["operation"]),
        f"{kind} {name}{'*' if pattern == 'PREFIXED' else ''}",
        _time_of_day(str(row["valid_from"])),
        Text("still there", "dim") if end is None else _time_of_day(str(end)),
    )


def _state(tables: Mapping[str, Iterable[_Row]], at: str) -> Iterator[tuple[tuple[str, str], str]]:
    moment = at.replace("Z", "000Z")  # the times of the rows have microseconds
    for table, rows in tables.items():
        for row in rows:
            begin, end = str(row["valid_from"]), row["valid_to"]
            if begin <= moment and (end is None or str(end) > moment):
                yield _thing(table, row)


def _thing(table: str, row: _Row) -> tuple[tuple[str, str], str]:
    match table:
        case "acl_history":
            acl = f"{row['operation']} on {row['resource_type']} {row['resource_name']}"
            return (f"ACL {row['acl_id']}", str(row["principal"])), f"{row['permission']} {acl}"
        case "quota_history":
            entity = ", ".join(f"{kind} {row[kind]}" for kind in ("user", "client_id", "ip") if row[kind] is not None)
            return (str(row["key"]), entity), f"{row['value']:,.0f}"
        case _:
            return (str(row["name"]), f"{str(row['resource_type']).lower()} {row['resource_name']}"), str(row["value"])


def _changes(was: _State, is_now: _State) -> Iterator[Sequence[str | Text]]:
    for thing in sorted(was.keys() | is_now.keys()):
        before, after = was.get(thing), is_now.get(thing)
        if before != after:
            kind, name = thing
            yield kind.partition(" ")[0], name, _cell(before), _cell(after)


def _cell(value: str | None) -> str | Text:
    return Text("none", "dim") if value is None else value


def _time_of_day(text: str) -> str:
    return text[11:23]
