"""A report as one HTML file: style, program and data are inside, and nothing is fetched.

The contents of a log are untrusted. The page has them as data only, with every character escaped that could end their
element. The program creates elements from text, never from markup. The content security policy of the page allows only
its own style and program.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from kafkawire.report.contents import LogReport
from kafkawire.report.packing import packed_report
from kafkawire.version import __version__

_FOLDER: Final = Path(__file__).resolve().parent / "page"
_PROGRAM: Final = (
    *("elements", "moments", "numbers", "charts", "listing", "subjects", "lanes"),
    *("hosts", "decisions", "holders", "access", "past_rights", "asking", "alerts", "changes", "commits", "tiles"),
    *("downloads", "differences", "comparison", "entity", "address"),
    "evidence",
    "page",
)
_UNSAFE: Final = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def render_page(report: LogReport, *, written_at: int) -> str:
    """The text of the HTML file.

    Args:
        report: what it shows.
        written_at: when it was written, in milliseconds since 1970.
    """
    style, program = _read("style.css"), _program()
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template("page.html.j2").render(
        title=report.title,
        version=__version__,
        style=style,
        style_hash=_hash_source(style),
        script=program,
        script_hash=_hash_source(program),
        data=_data(report, written_at),
    )


def _data(report: LogReport, written_at: int) -> Markup:
    text = json.dumps(packed_report(report, written_at), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_UNSAFE))  # noqa: S704 characters that could end the element are escaped


def _program() -> Markup:
    """All parts inside one function, so that their names are not global."""
    parts = "\n".join(_read(f"{name}.js") for name in _PROGRAM)
    return Markup('"use strict";\n(() => {\n') + Markup(parts) + Markup("})();\n")  # noqa: S704 our own text


def _read(name: str) -> Markup:
    return Markup((_FOLDER / name).read_text("utf-8"))  # noqa: S704 our own text


def _hash_source(text: Markup) -> Markup:
    digest = base64.b64encode(hashlib.sha256(str(text).encode()).digest()).decode()
    return Markup(f"sha256-{digest}")  # noqa: S704 base64
