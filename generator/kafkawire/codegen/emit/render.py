"""The jinja environment that prints the templates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jinja2
from jinja2.runtime import Context

from kafkawire.codegen.emit.names import default_constant
from kafkawire.codegen.emit.used_names import MAKERS, UsedNames


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
        "solid": solid,
        **{kind: _function(kind) for kind in MAKERS},
    }
    return made


def solid(text: str) -> str:
    """Statements without the blank lines that nested macros leave between them."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def _function(kind: str) -> Callable[[Context, str | tuple[str, ...]], str]:
    """The filter that names a function which the module makes of ``struct`` codes; ``use`` of the template notes it."""

    @jinja2.pass_context
    def name(context: Context, codes: str | tuple[str, ...]) -> str:
        use: UsedNames = context["use"]
        return use.function(kind, *((codes,) if isinstance(codes, str) else codes))

    return name
