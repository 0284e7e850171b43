"""Where a side of a comparison comes from: what the user may write, and reading it."""

from __future__ import annotations

from pathlib import Path

from kafkawire.codegen.evolution.side import Side
from kafkawire.codegen.overlay import overlay_proposals
from kafkawire.codegen.package_data import specs_dir
from kafkawire.codegen.parse import Definitions, load_definitions
from kafkawire.codegen.specs_tree import unstable_versions

BUILTIN = "builtin"


class OriginError(Exception):
    """A side that cannot be read; the text says what is wrong and what to do."""


def load_side(text: str) -> Side:
    """Read one side of a comparison.

    Args:
        text: a folder of definitions, a definition file, or ``builtin``: the definitions that come with kafkawire.
            A folder with such a name is written ``./builtin``.

    Raises:
        OriginError: if there is no such thing.
    """
    if text == BUILTIN:
        return _builtin()
    return _from_disk(text)


def _builtin() -> Side:
    root = specs_dir()
    definitions = load_definitions(root, lambda path: f"{BUILTIN}/{path.relative_to(root).as_posix()}")
    return side_of(BUILTIN, definitions)


def _from_disk(text: str) -> Side:
    root = Path(text)
    if not root.exists():
        raise OriginError(f"there is no file or folder {text}")
    return side_of(text, load_definitions(root), is_single_file=not root.is_dir())


def side_of(name: str, definitions: Definitions, *, is_single_file: bool = False) -> Side:
    """The side that definitions make, proposals laid over what is released."""
    overlaid = overlay_proposals(definitions.messages)
    return Side(
        name=name,
        messages={message.name: message for message in sorted(overlaid.messages, key=lambda m: (m.group, m.name))},
        unstable=unstable_versions(definitions.messages, overlaid.proposed),
        sources=definitions.sources,
        findings=(*definitions.findings, *overlaid.findings),
        is_single_file=is_single_file,
    )
