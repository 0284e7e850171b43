"""What a page was made from: the digests and counts of its inputs, the versions and the options."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kafkawire.logs import FileStore, InputFile, LogFile, LogReadError, Versions, check_unchanged, describe_inputs
from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS
from kafkawire.logs.planning import FoundLogs
from kafkawire.logs.registry import METADATA_TOPIC

Options = Mapping[str, str | list[str]]
"""The options of a command that are not the default, by their flag."""

LISTED_INPUTS: Final = 200
"""How many inputs a page lists; a digest covers all."""

_READ: Final = frozenset({METADATA_TOPIC, CONSUMER_OFFSETS, None})


@dataclass(frozen=True)
class PageEvidence:
    """What a page was made from.

    Attributes:
        inputs: the first inputs.
        count: how many there are.
        digest: SHA-256 of what ``sha256sum`` prints for all inputs, in their order.
        changed: paths of inputs that were deleted or replaced while they were read.
        versions: of what made the page.
        options: of the command that made it.
    """

    inputs: Sequence[InputFile]
    count: int
    digest: str
    changed: Sequence[str]
    versions: Versions
    options: Options


class GatheredEvidence:
    """The inputs of a page, described before they are read.

    Raises:
        LogReadError: one cannot be read, or has changed since the logs were listed.
    """

    def __init__(self, logs: FoundLogs, options: Options) -> None:
        self._files = tuple(file for file in logs.files if file.topic in _READ)
        self._store = logs.store
        self._options = options
        self._inputs = describe_inputs(self._files, logs.store)

    def after_reading(self) -> PageEvidence:
        """The evidence, with what has changed meanwhile."""
        return PageEvidence(
            inputs=self._inputs[:LISTED_INPUTS],
            count=len(self._inputs),
            digest=digest_of(self._inputs),
            changed=[file.shown_path for file in self._files if _has_changed(file, self._store)],
            versions=Versions.of_this_process(),
            options=self._options,
        )


def digest_of(inputs: Sequence[InputFile]) -> str:
    """SHA-256 of what ``sha256sum`` prints for inputs."""
    digest = hashlib.sha256()
    for each in inputs:
        digest.update(f"{each.sha256}  {each.path}\n".encode())
    return digest.hexdigest()


def packed_evidence(evidence: PageEvidence | None) -> dict[str, object] | None:
    """The data for the page's program; None for a page without evidence."""
    if evidence is None:
        return None
    versions = evidence.versions
    return {
        "inputs": [_packed(each) for each in evidence.inputs],
        "count": evidence.count,
        "digest": evidence.digest,
        "changed": list(evidence.changed),
        "versions": {
            "kafkawire": versions.kafkawire,
            "Python": versions.python,
            "pyarrow": versions.pyarrow,
            "definitions of Kafka": versions.kafka,
        },
        "options": dict(evidence.options),
    }


def _packed(each: InputFile) -> dict[str, object]:
    return {
        "path": each.path,
        "sha256": each.sha256,
        "size": each.size,
        "first": each.first_offset,
        "last": each.last_offset,
        "batches": each.batches,
        "records": each.records,
        "decoded": each.bytes_decoded,
        "skipped": each.bytes_skipped,
    }


def _has_changed(file: LogFile, store: FileStore) -> bool:
    try:
        check_unchanged([file], store)
    except LogReadError:
        return True
    return False
