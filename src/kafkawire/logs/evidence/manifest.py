"""The manifest of a result: the digests and counts of its inputs, the versions, the options, and the result itself."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final, Self

import msgspec
import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.protocol import RELEASES
from kafkawire.version import __version__

MANIFEST_FORM: Final = 1
"""To be raised when a field goes or changes its meaning; new fields do not raise it."""


class ManifestError(ValueError):
    """A manifest that cannot be used: it is damaged, or of a newer kafkawire."""


class InputFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a result was made from.

    Attributes:
        path: absolute path, or URI without user and password.
        kind: ``segment`` or ``snapshot``.
        topic: of its log; null if unknown.
        base_offset: from its name: of the first record of a segment; of a snapshot, the end of what it contains.
        size: in bytes, when the logs were listed.
        sha256: of the first ``size`` bytes, in hexadecimal digits.
        first_offset, last_offset: of its sound batches; null if it has none. A snapshot counts from 0.
        first_time, last_time: the smallest and the largest time in the headers of its sound batches; null if there is
            none.
        batches, records: how many sound ones it has.
        bytes_decoded: bytes of sound batches.
        bytes_skipped: the other bytes, by the code of the flaw.
    """

    path: str
    kind: str
    topic: str | None
    base_offset: int
    size: int
    sha256: str
    first_offset: int | None
    last_offset: int | None
    first_time: datetime | None
    last_time: datetime | None
    batches: int
    records: int
    bytes_decoded: int
    bytes_skipped: dict[str, int]


class ResultFile(msgspec.Struct, frozen=True):
    """A file of a result.

    Attributes:
        path: absolute path, or URI without user and password.
        size: in bytes.
        sha256: of all its bytes, in hexadecimal digits.
    """

    path: str
    size: int
    sha256: str


class Result(msgspec.Struct, frozen=True):
    """What was made.

    Attributes:
        path: of the file, or of the folder that Spark wrote.
        rows: how many rows it has.
        files: its files: one, or those in the folder.
    """

    path: str
    rows: int
    files: tuple[ResultFile, ...]


class UsedState(msgspec.Struct, frozen=True):
    """The state of a history, of which the result has the changes since the last run.

    Attributes:
        path: of the file of ``--state``.
        before: SHA-256 of the file before the run; null if there was none.
        after: SHA-256 of the file that the run wrote.
    """

    path: str
    before: str | None
    after: str


class Versions(msgspec.Struct, frozen=True):
    """The versions of what made a result.

    Attributes:
        kafkawire, python, pyarrow: of the programs.
        kafka: the release of Apache Kafka whose definitions decoded the records; null for definitions of your own.
    """

    kafkawire: str
    python: str
    pyarrow: str
    kafka: str | None

    @classmethod
    def of_this_process(cls) -> Self:
        """The versions in use."""
        return cls(__version__, platform.python_version(), pa.__version__, RELEASES[-1] if RELEASES else None)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a result was made from, how, and what it is.

    Attributes:
        form: number of this form, ``MANIFEST_FORM``.
        made: when.
        versions: of what made it.
        table: name of the table.
        options: the options that are not the default, as the command spells them.
        inputs: every file that the table reads, also those that the options exclude or an earlier run has read.
        accounts: of the whole reading, see ``Accounts``.
        result: what was made.
        state: the state of a history, if changes were read.
    """

    form: int
    made: datetime
    versions: Versions
    table: str
    options: dict[str, str | list[str]]
    inputs: tuple[InputFile, ...]
    accounts: Accounts
    result: Result
    state: UsedState | None = None

    def encode(self) -> bytes:
        """As JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    @classmethod
    def decode(cls, octets: bytes) -> Self:
        """From ``encode``.

        Raises:
            ManifestError: it is something else, or has a newer form.
        """
        try:
            form = msgspec.json.decode(octets, type=_Form).form
            if form != MANIFEST_FORM:
                raise ManifestError(f"it has form {form}; this kafkawire reads {MANIFEST_FORM}: use a newer one")
            return msgspec.json.decode(octets, type=cls)
        except msgspec.MsgspecError as error:
            raise ManifestError(f"it is not a manifest: {error}") from None


class _Form(msgspec.Struct, frozen=True):
    form: int


def make_manifest(
    table: str,
    options: Mapping[str, str | list[str]],
    inputs: tuple[InputFile, ...],
    accounts: Accounts,
    result: Result,
    *,
    state: UsedState | None = None,
) -> Manifest:
    """The manifest of a result that was made now, by this process.

    Args:
        table: name of the table.
        options: those that are not the default; without secrets.
        inputs: from ``describe_inputs``, before the files were read.
        accounts: of the reading.
        result: from ``describe_result``.
        state: of a history whose changes were read.

    Example:
        ```python
        from kafkawire.logs import Accounts, describe_inputs, describe_result, find_log_files, make_manifest, read_table

        files = find_log_files(["/var/lib/kafka/data/__cluster_metadata-0"])
        inputs = describe_inputs(files)
        accounts = Accounts()
        with open("/evidence/acls.csv", "w") as out:
            for batch in read_table("acl_history", "/var/lib/kafka/data", accounts=accounts):
                out.writelines(",".join(map(str, row.values())) for row in batch.to_pylist())
        result = describe_result("/evidence/acls.csv", accounts.rows)
        manifest = make_manifest("acl_history", {}, inputs, accounts, result)
        with open("/evidence/acls.csv.manifest.json", "wb") as out:
            out.write(manifest.encode())
        ```
    """
    counted = Accounts(**asdict(accounts))
    return Manifest(
        form=MANIFEST_FORM,
        made=datetime.now(UTC),
        versions=Versions.of_this_process(),
        table=table,
        options=dict(options),
        inputs=inputs,
        accounts=counted,
        result=result,
        state=state,
    )
