"""The manifest beside the result of ``kafkawire tables``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from kafkawire.cli.destination import whole_file
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.tables.formats import Format
from kafkawire.logs import (
    Accounts,
    FileStore,
    LogFile,
    ReadOptions,
    UsedState,
    describe_inputs,
    describe_result,
    make_manifest,
)
from kafkawire.logs.evidence.digests import check_unchanged, digest_of_state, shown_place
from kafkawire.logs.evidence.used_options import not_default


class Evidence:
    """What a run reads and writes, for its manifest.

    Made before the logs are read. ``rows_of`` counts the rows that are written; ``write`` comes at the end.

    Args:
        files: the inputs.
        store: where they are.
        options: how they are read.
        state: path of the state of a history, if changes are read.

    Raises:
        LogReadError: an input cannot be read, or has changed.
        OSError: the state cannot be read.
    """

    def __init__(self, files: tuple[LogFile, ...], store: FileStore, options: ReadOptions, state: str | None) -> None:
        self._files = files
        self._store = store
        self._options = options
        self._state = state
        self._before = None if state is None else digest_of_state(state)
        self._inputs = describe_inputs(files, store, options)
        self._rows = 0

    def rows_of(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; their rows are counted."""
        for batch in batches:
            self._rows += batch.num_rows
            yield batch

    def write(self, table: str, out: Path, own_options: Mapping[str, object], accounts: Accounts) -> None:
        """Write the manifest, after the result and the state were written.

        Args:
            table: its name.
            out: the result.
            own_options: those of the command itself by flag; None and False if one was not given.
            accounts: of the reading.

        Raises:
            LogReadError: an input was replaced while it was read.
            OSError: the manifest cannot be written.
        """
        check_unchanged(self._files, self._store)
        manifest = make_manifest(
            table,
            {**_as_texts(own_options), **not_default(self._options)},
            self._inputs,
            accounts,
            describe_result(out, self._rows),
            state=self._used_state(),
        )
        with whole_file(manifest_beside(out)) as stream:
            stream.write(manifest.encode())

    def _used_state(self) -> UsedState | None:
        after = None if self._state is None else digest_of_state(self._state)
        if self._state is None or after is None:
            return None
        return UsedState(shown_place(self._state), self._before, after)


def _as_texts(options: Mapping[str, object]) -> dict[str, str | list[str]]:
    texts: dict[str, str | list[str]] = {}
    for flag, value in options.items():
        if isinstance(value, list):
            texts[flag] = [shown_place(str(path)) for path in value]
        elif value is True:
            texts[flag] = "true"
        elif value is not None and value is not False:
            texts[flag] = str(value)
    return texts


def manifest_beside(out: Path) -> Path:
    """The path of the manifest of a result."""
    return out.with_name(f"{out.name}.manifest.json")


def check_has_manifest(out: Path | None, form: Format) -> None:
    """Check that a run can have a manifest.

    Raises:
        CommandError: its result is no file, or not all rows.
    """
    if out is None or (out.exists() and not out.is_file()):
        raise CommandError("--manifest is about a file: give --out FILE", ExitCode.USAGE)
    if form.is_for_people:
        raise CommandError(f"--manifest: -o {form} may leave out rows; give a form for programs", ExitCode.USAGE)
