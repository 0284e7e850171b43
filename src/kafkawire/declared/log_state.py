"""The state of a cluster from its own metadata log, now or at an earlier time. Needs ``kafkawire[tables]``."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import Any, Final, TypeAlias, cast

from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.logs import Accounts, LogFile, ReadMode, ReadOptions, table_named
from kafkawire.logs.files.log_files import FileKind
from kafkawire.logs.folding.intervals import Interval
from kafkawire.logs.folding.metadata_fold import MetadataFold, StateReducer
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.folding.metadata_replay import replay
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.histories.acl import binding_of
from kafkawire.logs.histories.partition import replicas_of
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.logs.planning import find_logs
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.configs.sensitive import is_sensitive
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism, UserMechanism
from kafkawire.model.tolerant_enums import MembersByCode
from kafkawire.model.topics import INTERNAL_TOPICS

_Held: TypeAlias = Sequence[tuple[Any, Any]]
"""Keys and values, as the reducer of a history has them."""

_FOLDED: Final = (
    *("topic_history", "partition_history", "config_history", "acl_history", "quota_history", "scram_history"),
)

_CONFIG_TYPES: Final = MembersByCode(ConfigResourceType)


def read_log_state(path: str | os.PathLike[str], as_of: datetime | None = None) -> ClusterState:
    """The state of a cluster from its metadata log: segments and snapshots, of a broker or of a controller.

    It is what `read_cluster` has read from the cluster at that time. Sensitive values are None.

    Args:
        path: the folder of the log, ``__cluster_metadata-0``, a folder with it, or a URI that Arrow knows.
        as_of: at which time; a time without a zone is in UTC. None for the state after the last record.

    Raises:
        NoLogsError: there is no metadata log, or more than one.
        LogReadError: the log is damaged or cannot be read.
        BeforeKnowledgeError: the log does not reach back so far.

    Example:
        ```python
        from datetime import UTC, datetime

        from kafkawire.declared import read_log_state

        state = read_log_state("/var/lib/kafka/data/__cluster_metadata-0", datetime(2026, 11, 21, 12, tzinfo=UTC))
        print(sorted(state.topics))
        ```
    """
    options = ReadOptions(as_of=as_of, mode=ReadMode.FAILFAST)
    logs = find_logs([path]).needed_by(table_named("topic_history", options)).one_metadata_log()
    found = _held(logs.files, FoldSource(options, Accounts(), logs.store))
    configs = _configs(found["config_history"])
    return ClusterState(
        topics=dict(_topics(found["topic_history"], found["partition_history"], configs)),
        configs={
            resource: values
            for resource, values in configs.items()
            if resource.resource_type is not ConfigResourceType.TOPIC
        },
        acls=frozenset(binding_of(values) for _, values in found["acl_history"]),
        quotas=_quotas(found["quota_history"]),
        credentials=dict(_credentials(found["scram_history"])),
    )


def _held(files: Sequence[LogFile], source: FoldSource) -> Mapping[str, _Held]:
    """What held at the time of the options, by history; the log is read once."""
    selection = Selection.of(source.options)
    folder = files[0].shown_folder
    has_snapshots = any(file.kind is FileKind.SNAPSHOT and file.base_offset for file in files)
    folds = {name: MetadataFold(make, source, has_snapshots=has_snapshots) for name, make in _reducers(selection.as_of)}
    held: dict[str, list[Interval[Any]]] = {name: [] for name in folds}
    for _ in replay(files, list(folds.values()), source):
        for name, fold in folds.items():
            if fold.complete_since is not None:
                selection.refuse_unknown(folder, fold.complete_since)
            if selection.as_of is not None:
                held[name] += selection.kept(fold.ledger.take_ended())
            fold.ledger.forget_ended()
    for name, fold in folds.items():
        selection.refuse_unknown(folder, fold.known_since)
        held[name] += selection.kept(fold.ledger.still_open())
    return {
        name: [(each.key, each.values) for each in intervals if each.values is not None]
        for name, intervals in held.items()
    }


def _reducers(as_of: int | None) -> Iterator[tuple[str, Callable[[], StateReducer[Any]]]]:
    for name in _FOLDED:
        history = cast("MetadataHistory[Any]", HISTORIES[name])
        yield name, partial(history.make_reducer, as_of)


def _topics(
    topics: _Held, partitions: _Held, configs: Mapping[ConfigResource, Mapping[str, str | None]]
) -> Iterator[tuple[str, TopicState]]:
    assignments: dict[str, dict[int, tuple[int, ...]]] = defaultdict(dict)
    for (topic_id, number), partition in sorted(partitions, key=itemgetter(0)):
        assignments[topic_id][number] = replicas_of(partition)
    for name, topic_id in sorted((name, topic_id) for topic_id, (name, _) in topics):
        of_topic = configs.get(ConfigResource.topic(name), {})
        is_internal = name in INTERNAL_TOPICS
        yield name, TopicState.of_assignments(assignments[topic_id], of_topic, is_internal=is_internal)


def _configs(configs: _Held) -> dict[ConfigResource, dict[str, str | None]]:
    found: dict[ConfigResource, dict[str, str | None]] = defaultdict(dict)
    for (code, resource, name), (value,) in sorted(configs, key=itemgetter(0)):
        if value is not None:
            hidden = is_sensitive(code, name)
            found[ConfigResource(_CONFIG_TYPES[code], resource)][name] = None if hidden else value
    return dict(found)


def _quotas(quotas: _Held) -> dict[ClientQuotaEntity, dict[str, float]]:
    found: dict[ClientQuotaEntity, dict[str, float]] = defaultdict(dict)
    for (parts, key), (value,) in quotas:
        found[ClientQuotaEntity(dict(parts))][key] = value
    return dict(found)


def _credentials(credentials: _Held) -> Iterator[tuple[UserMechanism, CredentialState]]:
    for (user, mechanism), (iterations, *_) in credentials:
        yield (user, ScramMechanism(mechanism)), CredentialState(iterations=iterations)
