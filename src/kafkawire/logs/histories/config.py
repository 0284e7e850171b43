"""``config_history``: which configurations were set, for topics, brokers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from kafkawire.layout import Uuid
from kafkawire.logs.histories.codes import CONFIG_RESOURCE_TYPES
from kafkawire.logs.histories.columns import TIMESTAMP, Columns, schema_of, value_columns
from kafkawire.logs.histories.intervals import Interval, Ledger, Moment
from kafkawire.model.configs.sensitive import HIDDEN, is_sensitive
from kafkawire.protocol import ConfigRecord, RemoveTopicRecord, TopicRecord
from kafkawire.wire import Message

__all__ = ["CONFIG_SCHEMA", "ConfigKey", "ConfigReducer", "config_columns"]

CONFIG_SCHEMA = schema_of(
    {
        "resource_type": pa.string(),
        "resource_type_code": pa.int8(),
        "resource_name": pa.string(),
        "name": pa.string(),
        "value": pa.string(),
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    }
)

ConfigKey: TypeAlias = tuple[int, str, str]
"""Type and name of a resource, and the name of a configuration."""

_UNSET: Final = (None,)
_TOPIC: Final = 2


class ConfigReducer:
    """Sets and unsets configurations by resource and name. With a topic go those that were set for it."""

    RECORDS: ClassVar[frozenset[str]] = frozenset({"ConfigRecord", "TopicRecord", "RemoveTopicRecord"})

    def __init__(self) -> None:
        self.ledger: Ledger[ConfigKey] = Ledger(nothing=_UNSET)
        self._topics: dict[Uuid, str] = {}

    def apply(self, record: Message, at: Moment) -> None:
        """A configuration is set or unset, or a topic comes or goes."""
        match record:
            case ConfigRecord():
                resource = record.resource_type, record.resource_name
                self.ledger.put((*resource, record.name), (record.value,), at, group=resource)
            case TopicRecord():
                self._topics[record.topic_id] = record.name
            case RemoveTopicRecord() if record.topic_id in self._topics:
                self.ledger.drop_group((_TOPIC, self._topics.pop(record.topic_id)), at)


def config_columns(intervals: Sequence[Interval[ConfigKey]], *, secrets: bool) -> Columns:
    """What is the history's own in the columns of some intervals.

    Args:
        intervals: what was set when.
        secrets: whether sensitive values are shown.
    """
    (values,) = value_columns(intervals, 1)
    if not secrets:
        values = [
            HIDDEN if value is not None and is_sensitive(interval.key[0], interval.key[2]) else value
            for interval, value in zip(intervals, values, strict=True)
        ]
    codes = [interval.key[0] for interval in intervals]
    return {
        "resource_type": CONFIG_RESOURCE_TYPES.of(codes),
        "resource_type_code": codes,
        "resource_name": [interval.key[1] for interval in intervals],
        "name": [interval.key[2] for interval in intervals],
        "value": values,
    }
