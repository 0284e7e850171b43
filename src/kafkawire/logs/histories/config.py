"""``config_history``: configurations that were set for topics, brokers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, Literal, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.intervals import Interval, Ledger, Moment
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.tables.enum_names import CONFIG_RESOURCE_TYPES
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
        self.ledger: Ledger[ConfigKey] = Ledger(absent=_UNSET)
        self.topics: dict[str, str] = {}

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "ConfigRecord", kind, resource, name, value:
                    self.ledger.put((kind, resource, name), (value,), at, group=(kind, resource))
                case "TopicRecord", topic_id, name:
                    self.topics[topic_id] = name
                case "RemoveTopicRecord", topic_id if topic_id in self.topics:
                    self.ledger.drop_group((_TOPIC, self.topics.pop(topic_id)), at)


def _cells(intervals: Sequence[Interval[ConfigKey]], *, secrets: bool) -> Columns:
    (values,) = value_columns([interval.values for interval in intervals], 1)
    names = [interval.key[2] for interval in intervals]
    codes = [interval.key[0] for interval in intervals]
    if not secrets:
        hidden = {each for each in {*zip(codes, names, strict=True)} if is_sensitive(*each)}
        if hidden:
            shown = zip(codes, names, values, strict=True)
            values = [HIDDEN if value is not None and (code, name) in hidden else value for code, name, value in shown]
    return {
        "resource_type": CONFIG_RESOURCE_TYPES.of(codes),
        "resource_type_code": codes,
        "resource_name": [interval.key[1] for interval in intervals],
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
