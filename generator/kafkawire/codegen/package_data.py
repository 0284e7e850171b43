"""The folders of templates and definitions: in a checkout beside the code, in an installed wheel inside the package.

The wheel carries both folders as ``kafkawire/codegen/_data/`` (see ``force-include`` in pyproject.toml). They are
paths, not resources, since findings name the file of a definition, and users open it.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parents[2]


def templates_dir() -> Path:
    """The folder of the jinja2 templates.

    Raises:
        FileNotFoundError: if the installation lacks the folder.
    """
    return _data_folder("templates")


def specs_dir() -> Path:
    """The folder of the message definitions that ``kafkawire.protocol`` is generated from.

    Raises:
        FileNotFoundError: if the installation lacks the folder.
    """
    return _data_folder("specs")


def checkout_dir() -> Path | None:
    """The root of the checkout that this code runs from, or None for an installed wheel."""
    return None if _INSTALLED.is_dir() else _CHECKOUT


def _data_folder(name: str) -> Path:
    folder = (checkout_dir() or _INSTALLED) / name
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is missing: install kafkawire again, or run it from a whole checkout")
    return folder
