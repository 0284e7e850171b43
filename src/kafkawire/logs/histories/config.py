"""``config_history``: configurations that were set for topics, brokers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger, LedgerRules
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.tables.enum_names import CONFIG_RESOURCE_TYPES, enum_names
from kafkawire.model.configs.sensitive import HIDDEN, is_sensitive

ConfigKey: TypeAlias = tuple[int, str, str]
"""Type and name of a resource, and name of the configuration."""

_Record: TypeAlias = (
    tuple[Literal["ConfigRecord"], int, str, str, str | None]
    | tuple[Literal["TopicRecord"], str, str]
    | tuple[Literal["RemoveTopicRecord"], str]
)

_UNSET: Final = (None,)
_TOPIC: Final = 2


class _ConfigReducer:
    """Sets and unsets configurations by resource and name. Deleting a topic removes the configurations of the topic.

    Attributes:
        topics: see ``KnowsTopics``.
    """

    RECORDS: ClassVar[Needed] = {
        "ConfigRecord": ("resource_type", "resource_name", "name", "value"),
        "TopicRecord": ("topic_id", "name"),
        "RemoveTopicRecord": ("topic_id",),
    }

    OWNERS: ClassVar[Owners] = {"ConfigRecord": "resource_name", "TopicRecord": "name"}

    def __init__(self) -> None:
        self.ledger: Ledger[ConfigKey] = Ledger(LedgerRules(absent=_UNSET))
        self.topics: dict[str, str] = {}

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        group: tuple[int, str] = (0, "")
        shared: dict[str | None, tuple[str | None]] = {}  # values repeat, and open intervals keep them
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            if record[0] == "ConfigRecord":
                _, kind, resource, name, value = record
                if group != (kind, resource):  # most records follow one of the same resource, and share its group
                    group = kind, resource
                values = shared.get(value)
                if values is None:
                    values = shared[value] = (value,)
                self.ledger.put((kind, resource, name), values, at, group)
            elif record[0] == "TopicRecord":
                _, topic_id, name = record
                self.topics[topic_id] = name
            elif record[1] in self.topics:
                self.ledger.drop_group((_TOPIC, self.topics.pop(record[1])), at)


def _cells(intervals: IntervalColumns[ConfigKey], *, secrets: bool) -> Columns:
    (values,) = value_columns(intervals.values, 1)
    codes = [key[0] for key in intervals.keys]
    names = [key[2] for key in intervals.keys]
    if not secrets:
        hidden = {each for each in {*zip(codes, names, strict=True)} if is_sensitive(*each)}
        if hidden:
            shown = zip(codes, names, values, strict=True)
            values = [HIDDEN if value is not None and (code, name) in hidden else value for code, name, value in shown]
    numbers = pa.array(codes, pa.int8())
    return {
        "resource_type": enum_names(numbers, CONFIG_RESOURCE_TYPES),
        "resource_type_code": numbers,
        "resource_name": [key[1] for key in intervals.keys],
        "name": names,
        "value": values,
    }


HISTORY: Final = MetadataHistory(
    "config_history",
    "configurations, with the time during which each was set",
    {
        "resource_type": pa.string(),
        "resource_type_code": pa.int8(),
        "resource_name": pa.string(),
        "name": pa.string(),
        "value": pa.string(),
    },
    lambda _: _ConfigReducer(),
    lambda intervals, options: _cells(intervals, secrets=options.secrets),
    keys=("resource_type", "resource_name", "name"),
)
