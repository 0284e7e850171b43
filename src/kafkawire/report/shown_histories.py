"""The histories that a page shows, and their rows as cells of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from kafkawire.report.contents import (
    ACLS,
    BROKERS,
    CONFIGS,
    CONTROLLERS,
    FEATURES,
    PARTITIONS,
    QUOTAS,
    SHARES,
    TOKENS,
    TOPICS,
    TRANSACTIONS,
    USERS,
    Cell,
    Row,
)

_Record: TypeAlias = Mapping[str, object]
_UNKNOWN: Final = "unknown: added before this log"
_INTERVAL: Final = ("valid_from", "valid_to")
_MICROSECONDS: Final = 1000
_NO_LEADER: Final = -1


@dataclass(frozen=True)
class ShownHistory:
    """How a history is shown.

    Attributes:
        table: its name.
        section: the attribute of the report.
        fields: of the section.
        columns: of the table, those that are read.
        row: the cells of a row except its interval; None for a row that is not shown.
        thing: how many of the first cells identify the thing that a row is about; 0 if each row has its own.
        renews: whether a row of a thing replaces the one before, so that both together are one change.
        kind: position of the cell that has the kind of a row, for separate counts; None for one count.
        holder: the principal or user of a row; None if it has none.
    """

    table: str
    section: str
    fields: tuple[str, ...]
    columns: tuple[str, ...]
    row: Callable[[_Record], Row | None]
    thing: int = 0
    renews: bool = False
    kind: int | None = None
    holder: Callable[[Row], Cell] = lambda _: None


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, object]]:
    """The rows of a batch as dicts by column name; times are milliseconds since 1970."""
    names = batch.schema.names
    columns = [whole_milliseconds(column) for column in batch.columns]
    for cells in zip(*columns, strict=True):
        yield dict(zip(names, cells, strict=True))


def whole_milliseconds(column: pa.Array[Any]) -> list[object]:
    """The cells of a column; times become milliseconds, Kafka's unit."""
    if not pa.types.is_timestamp(column.type):
        return column.to_pylist()
    return [None if cell is None else cell // _MICROSECONDS for cell in column.cast(pa.int64()).to_pylist()]


def _acl(record: _Record) -> Row:
    if record["principal"] is None:  # only its removal is in the log, which has no more than the id
        return (
            _text(record["cluster"]),
            f"ACL {record['acl_id']}",
            "*",
            "ANY",
            _UNKNOWN,
            "LITERAL",
            "UNKNOWN",
            "UNKNOWN",
        )
    return tuple(
        _text(record[name])
        for name in (
            *("cluster", "principal", "host", "resource_type", "resource_name", "pattern_type"),
            *("operation", "permission"),
        )
    )


def _principal(acl: Row) -> Cell:
    """The principal of an ACL; None if only its id is known."""
    nameless = acl[ACLS.index("resourceType")] == "ANY" and acl[ACLS.index("operation")] == "UNKNOWN"
    return None if nameless else acl[ACLS.index("principal")]


def _quota(record: _Record) -> Row:
    parts = (("user", "user"), ("client", "client_id"), ("address", "ip"))
    entity = ", ".join(f"{word} {record[name]}" for word, name in parts if record[name] is not None)
    value = record["value"]
    figure = value if isinstance(value, float) and math.isfinite(value) else None
    user = _text(record["user"])
    return _text(record["cluster"]), entity or "another entity", user, _text(record["key"]), figure


def _topic(record: _Record) -> Row:
    name = f"topic {record['topic_id']}" if record["name"] is None else _text(record["name"])
    return (
        _text(record["cluster"]),
        name,
        _text(record["topic_id"]),
        _number(record["partitions"]),
    )


def _config(record: _Record) -> Row | None:
    if record["value"] is None and record["valid_from"] is not None:  # it was unset: there is nothing to show
        return None
    names = ("cluster", "resource_type", "resource_name", "name", "value")
    return tuple(_text(record[name]) for name in names)


def _user(record: _Record) -> Row:
    return (*(_text(record[name]) for name in ("cluster", "user", "mechanism")), _number(record["iterations"]))


def _transaction(record: _Record) -> Row | None:
    if record["transactional_id"] is None:  # a record or batch that could not be read
        return None
    listed = record["partitions"]
    return (
        *(_text(record[name]) for name in ("cluster", "transactional_id")),
        _text(record["state"]) or "unknown",
        *(_number(record[name]) for name in ("producer_id", "producer_epoch")),
        sum(len(each["partitions"]) for each in listed) if isinstance(listed, list) else None,
    )


def _partition(record: _Record) -> Row | None:
    """A partition that is not healthy; the others would be most of the page."""
    state = _trouble(record)
    if state is None:
        return None
    name = f"topic {record['topic_id']}" if record["topic"] is None else _text(record["topic"])
    number = record["partition"]
    return (
        *(_text(record["cluster"]), name, number if isinstance(number, int) else None, state, _text(record["leader"])),
        *(_listed(record["isr"]), _listed(record["replicas"])),
    )


def _trouble(record: _Record) -> str | None:
    if record["leader"] == _NO_LEADER:
        return "no leader"
    if record["is_under_replicated"]:
        return "under-replicated"
    return "reassigning" if record["is_reassigning"] else None


def _token(record: _Record) -> Row:
    expires = record["expires_at"]
    return (
        *(_text(record[name]) for name in ("cluster", "owner", "token_id", "requester")),
        _listed(record["renewers"]),
        expires if isinstance(expires, int) else None,
    )


def _broker(record: _Record) -> Row:
    cluster, broker, rack = (_text(record[name]) for name in ("cluster", "broker_id", "rack"))
    return cluster, broker, _state(record), rack, _endpoints(record["endpoints"])


def _state(record: _Record) -> str:
    if record["fenced"] is None:
        return "unknown"
    if record["fenced"]:
        return "fenced"
    return "in controlled shutdown" if record["in_controlled_shutdown"] else "active"


def _controller(record: _Record) -> Row:
    return _text(record["cluster"]), _text(record["controller_id"]), _endpoints(record["endpoints"])


def _feature(record: _Record) -> Row:
    level = record["level"]
    return _text(record["cluster"]), _text(record["name"]), level if isinstance(level, int) else None


def _endpoints(cell: object) -> str | None:
    if not isinstance(cell, list):
        return None
    return ", ".join(f"{each['name']}://{each['host']}:{each['port']} {each['security_protocol']}" for each in cell)


def _listed(cell: object) -> str | None:
    return ", ".join(map(str, cell)) if isinstance(cell, list) else None


def _share(record: _Record) -> Row | None:
    if record["group_id"] is None:
        return None
    return (
        *(_text(record[name]) for name in ("cluster", "group_id", "topic_id")),
        *(_number(record[name]) for name in ("partition", "start_offset", "available", "acknowledged", "archived")),
    )


def _number(cell: object) -> int | None:
    return cell if isinstance(cell, int) else None


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell)


SHOWN_HISTORIES: Final = (
    ShownHistory(
        "acl_history",
        "acls",
        ACLS,
        (
            *("cluster", "acl_id", "principal", "host", "resource_type", "resource_name", "pattern_type"),
            *("operation", "permission", *_INTERVAL),
        ),
        _acl,
        kind=ACLS.index("permission"),
        holder=_principal,
    ),
    ShownHistory(
        "quota_history",
        "quotas",
        QUOTAS,
        ("cluster", "user", "client_id", "ip", "key", "value", *_INTERVAL),
        _quota,
        thing=QUOTAS.index("value"),
        renews=True,
    ),
    ShownHistory(
        "topic_history",
        "topics",
        TOPICS,
        ("cluster", "topic_id", "name", "partitions", *_INTERVAL),
        _topic,
        thing=TOPICS.index("id"),
    ),
    ShownHistory(
        "config_history",
        "configs",
        CONFIGS,
        ("cluster", "resource_type", "resource_name", "name", "value", *_INTERVAL),
        _config,
        thing=CONFIGS.index("value"),
        renews=True,
    ),
    ShownHistory(
        "scram_history",
        "users",
        USERS,
        ("cluster", "user", "mechanism", "iterations", *_INTERVAL),
        _user,
        thing=USERS.index("iterations"),
        renews=True,
        holder=lambda row: row[USERS.index("user")],
    ),
    ShownHistory(
        "partition_history",
        "partitions",
        PARTITIONS,
        (
            *("cluster", "topic", "topic_id", "partition", "leader", "isr", "replicas"),
            *("is_under_replicated", "is_reassigning", *_INTERVAL),
        ),
        _partition,
        thing=PARTITIONS.index("state"),
        renews=True,
        kind=PARTITIONS.index("state"),
    ),
    ShownHistory(
        "token_history",
        "tokens",
        TOKENS,
        ("cluster", "owner", "token_id", "requester", "renewers", "expires_at", *_INTERVAL),
        _token,
        thing=TOKENS.index("requester"),
        renews=True,
        holder=lambda row: row[TOKENS.index("owner")],
    ),
    ShownHistory(
        "broker_history",
        "brokers",
        BROKERS,
        ("cluster", "broker_id", "fenced", "in_controlled_shutdown", "rack", "endpoints", *_INTERVAL),
        _broker,
        thing=BROKERS.index("state"),
        renews=True,
        kind=BROKERS.index("state"),
    ),
    ShownHistory(
        "controller_history",
        "controllers",
        CONTROLLERS,
        ("cluster", "controller_id", "endpoints", *_INTERVAL),
        _controller,
        thing=CONTROLLERS.index("endpoints"),
        renews=True,
    ),
    ShownHistory(
        "feature_history",
        "features",
        FEATURES,
        ("cluster", "name", "level", *_INTERVAL),
        _feature,
        thing=FEATURES.index("level"),
        renews=True,
    ),
)
"""Those of the metadata log, which are read together."""

SHOWN_STATES: Final = (
    ShownHistory(
        "transaction_history",
        "transactions",
        TRANSACTIONS,
        (
            *("cluster", "transactional_id", "state", "producer_id", "producer_epoch", "partitions"),
            *_INTERVAL,
        ),
        _transaction,
        thing=TRANSACTIONS.index("state"),
        renews=True,
        kind=TRANSACTIONS.index("state"),
    ),
    ShownHistory(
        "share_group_history",
        "shares",
        SHARES,
        (
            *("cluster", "group_id", "topic_id", "partition", "start_offset"),
            *("available", "acknowledged", "archived", *_INTERVAL),
        ),
        _share,
        thing=SHARES.index("start"),
        renews=True,
    ),
)
"""Those of the transaction and share coordinators."""
