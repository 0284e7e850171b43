"""A twin: the broker on a copy of another cluster's metadata, in whose place it answers for all brokers there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.image.metadata_image import MetadataImage, image_of
from kafkawire.broker.image.registrations import RegistrationsImage
from kafkawire.broker.metadata_log.copied_log import CopiedLog
from kafkawire.broker.metadata_log.snapshots import Snapshot, write_snapshot
from kafkawire.broker.storage.data_directory import METADATA_FOLDER, write_identity
from kafkawire.broker.storage.errors import DataDirectoryError
from kafkawire.broker.storage.files import replace_file

_MARK: Final = "kafkawire-twin.properties"
_EXPLANATION: Final = (
    b"# The state of a twin: a copy of another cluster's metadata, and what was changed in it since.\n"
    b"# kafkawire broker --data-dir goes on with it; Apache Kafka cannot.\n"
)
_DEFAULTS: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""ACLs are evaluated as in the cluster, and who connects without a login may change everything."""


@dataclass(frozen=True, slots=True)
class TwinSource:
    """What a twin begins with.

    Attributes:
        folder: a data directory of the cluster, or the folder of its metadata log.
        as_of: the time of the last records that count; None for all.
    """

    folder: Path
    as_of: datetime | None = None


def has_twin(data_dir: Path) -> bool:
    """Whether a data directory has the state of a twin."""
    return (data_dir / _MARK).exists()


def twin_configuration(configuration: BrokerConfiguration, registrations: RegistrationsImage) -> BrokerConfiguration:
    """The configuration of a twin: that of one of the brokers, with the defaults of twins.

    Args:
        configuration: as given. Its ``node.id`` is kept if that broker is registered and not fenced; else the twin has
            the lowest id of those that are.
        registrations: the brokers.
    """
    live = sorted(node_id for node_id, broker in registrations.brokers.items() if not broker.fenced)
    given = configuration.integer("node.id")
    candidates = live or sorted(registrations.brokers) or [given]
    node_id = given if given in candidates else candidates[0]
    return BrokerConfiguration({**_DEFAULTS, **configuration.properties, "node.id": str(node_id)})


def copied(
    source: TwinSource, data_dir: Path | None, configuration: BrokerConfiguration, clock: Clock
) -> tuple[CopiedLog, MetadataImage]:
    """The log and the state that a new twin begins with.

    Args:
        source: what the twin is made from.
        data_dir: a new data directory, to which the state is written; None to keep it in memory only.
        configuration: as given.
        clock: the broker's.

    Raises:
        StorageError: the source has no such state, or its files are damaged; or the data directory is not new.
        OSError: a file cannot be read or written.
    """
    if data_dir is not None and data_dir.exists() and any(data_dir.iterdir()):
        raise DataDirectoryError(
            f"{data_dir}: the directory is not empty. To go on with the twin in it, start the broker without the log "
            "that it was made from; for a new twin, use an empty directory"
        )
    log = CopiedLog(source.folder, source.as_of)
    image = image_of(log.replay())
    if data_dir is not None:
        node_id = twin_configuration(configuration, image.registrations).integer("node.id")
        _begin_directory(data_dir, log, image, node_id, clock.now_ms())
    return log, image


def _begin_directory(data_dir: Path, log: CopiedLog, image: MetadataImage, node_id: int, now_ms: int) -> None:
    folder = data_dir / METADATA_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(data_dir / _MARK, [_EXPLANATION])
    write_identity(data_dir, node_id, log.cluster_id)
    snapshot = Snapshot(tuple(image.records()), log.quorum)
    write_snapshot(
        folder, log.end_offset, log.leader_epoch, snapshot, last_timestamp=log.last_timestamp, timestamp=now_ms
    )
