"""The manifest of a table that the job writes: ``_manifest.json`` in the folder of the table.

The driver reads each input once for it, and each file of the table once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from pyarrow import fs

from kafkawire.logs import Accounts, LogReadError, Result, ResultFile, describe_inputs, make_manifest
from kafkawire.logs.evidence.digests import result_file, shown_place
from kafkawire.logs.evidence.used_options import not_default, others_not_default
from kafkawire.logs.option_records import options_of
from kafkawire.spark.options import SourceOptions
from kafkawire.spark.planned_read import Reading
from kafkawire.spark.replacing import Place

MANIFEST: Final = "_manifest.json"


class JobManifest:
    """The inputs of a job, described before Spark reads them.

    Raises:
        LogReadError: one cannot be read, or changes.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._files = reading.files()
        self._inputs = describe_inputs(self._files, reading.store, reading.options.read)

    def write(self, part: Place, place: Place, accounts: Accounts, own_options: Mapping[str, str]) -> None:
        """Write the manifest beside the files of the table, before they are moved into place.

        Args:
            part: where the table is.
            place: where it is moved.
            accounts: of all tasks.
            own_options: those of the job itself by flag, if not the default.

        Raises:
            LogReadError: code ``file_changed``: the logs are not what they were. Tasks list them once more, and read
                what a broker has added since.
            OSError: a file cannot be read or written.
        """
        if self._reading.files() != self._files:
            reason = "the logs changed while Spark read them: copy them, and give the copy"
            raise LogReadError("file_changed", ", ".join(self._reading.options.paths), reason)
        options = self._reading.options
        manifest = make_manifest(
            options.table,
            {
                "--log": [shown_place(path) for path in options.paths],
                **own_options,
                **not_default(options.read),
                **others_not_default(options, (each for each in options_of(SourceOptions) if each.in_commands)),
            },
            self._inputs,
            accounts,
            Result(shown_place(place.uri), accounts.rows + accounts.flaw_rows, tuple(_files(part, place))),
        )
        with part.system.open_output_stream(f"{part.path}/{MANIFEST}", compression=None) as stream:
            stream.write(manifest.encode())


def _files(part: Place, place: Place) -> Iterator[ResultFile]:
    """The files with the rows; names of others begin with ``_`` or ``.``, as Hadoop's do."""
    root = PurePosixPath(part.path)
    for info in sorted(
        part.system.get_file_info(fs.FileSelector(part.path, recursive=True)), key=lambda info: info.path
    ):
        own = PurePosixPath(info.path).relative_to(root)
        if info.type == fs.FileType.File and not any(name.startswith(("_", ".")) for name in own.parts):
            yield result_file(f"{shown_place(place.uri)}/{own}", part.system, info.path)
