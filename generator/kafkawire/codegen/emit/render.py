"""The jinja environment that prints the templates."""

from __future__ import annotations

from pathlib import Path

import jinja2

from kafkawire.codegen.emit.names import default_constant


def environment(templates: Path) -> jinja2.Environment:
    """An environment that fails on any name that a template should not see."""
    made = jinja2.Environment(  # noqa: S701 -- Python source is printed, not HTML
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "default_constant": default_constant,
        "iterate": lambda code: f"_iterate_{_name_of(code)}",
        "pack": lambda code: f"_pack_{_name_of(code)}",
        "pack_text": lambda codes: f"_pack_text_{'_'.join(map(_name_of, codes))}",
        "pack_pair": lambda codes: f"_pack_pair_{'_'.join(map(_name_of, codes))}",
        "pack_twins": lambda codes: f"_pack_twins_{'_'.join(map(_name_of, codes))}",
        "pack_many": lambda code: f"_pack_many_{_name_of(code)}",
        "solid": solid,
        "unpack": lambda code: f"_unpack_{_name_of(code)}",
        "unpack_text": lambda code: f"_unpack_text_{_name_of(code)}",
        "unpack_many": lambda code: f"_unpack_many_{_name_of(code)}",
    }
    return made


def solid(text: str) -> str:
    """Statements without the blank lines that nested macros leave between them."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def _name_of(code: str) -> str:
    """A ``struct`` code as part of a name; the question mark of bool becomes a z."""
    return code.replace("?", "z")
