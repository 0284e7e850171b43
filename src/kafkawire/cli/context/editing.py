"""Changes of the file of contexts, which keep its comments and its order."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item, SingleKey, Table

from kafkawire.cli.access.config_file import config_text, read_config
from kafkawire.cli.outcome import CommandError, ExitCode


@contextlib.contextmanager
def edited(path: Path) -> Iterator[tomlkit.TOMLDocument]:
    """A file of contexts as a document to change; it is written when the context ends without an error.

    Raises:
        CommandError: it is not TOML, or cannot be written.
    """
    read_config(path)
    try:
        document = tomlkit.parse(config_text(path))
    except TOMLKitError as error:
        raise CommandError(f"{path}: this is not TOML: {error}; correct the file", ExitCode.USAGE) from None
    yield document
    try:
        _replace(path, tomlkit.dumps(document))
    except OSError as error:
        message = f"{path}: it cannot be written: {error.strerror}"
        raise CommandError(
            f"{message}; edit it where it comes from, or choose a context by KAFKAWIRE_CONTEXT or --context"
        ) from None


def table_in(parent: tomlkit.TOMLDocument | Table, name: str, *, shown: bool = True) -> Table:
    """A table of a document; it is made if it is not there.

    Args:
        parent: where it is.
        name: its key.
        shown: whether a new one has a heading of its own.

    Raises:
        CommandError: what is there is no table.
    """
    found = parent.get(name)
    if found is None:
        found = tomlkit.table(is_super_table=not shown)
        parent.append(name, found)
        found = parent[name]
    if not isinstance(found, Table):
        raise CommandError(f"{name}: is no table in the file of contexts; correct the file", ExitCode.USAGE)
    return found


def put(table: Table, key: str, value: object) -> None:
    """Set a key of a table. A new one stands before the comments at the end, which belong to the table that follows."""
    if key in table:
        table[key] = value
        return
    body = table.value.body
    last = max((at for at, (each, _) in enumerate(body) if each is not None), default=-1)
    after, body[last + 1 :] = body[last + 1 :], []
    table.append(key, value)
    body += after


def rename_key(table: Table, key: str, new: str) -> None:
    """Give a key of a table another name, where it stands, with the comments around it. Only for writing after it."""
    body = table.value.body
    at = next(at for at, (each, _) in enumerate(body) if each is not None and each.key == key)
    item = body[at][1]
    body[at] = (SingleKey(new), item)
    _forget_heading(item)


def _forget_heading(item: Item) -> None:
    """A table remembers the heading that was read, with the old name; without it, it gets one from the keys."""
    if isinstance(item, Table):
        item.display_name = None
        for _, each in item.value.body:
            _forget_heading(each)


def _replace(path: Path, text: str) -> None:
    """Write beside the file and rename, so that no one reads half a file. A link stays one."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    # Such a file can be read by its owner alone.
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix=f".{target.name}.", dir=target.parent, delete=False
    ) as file:
        beside = Path(file.name)
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            file.close()
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
