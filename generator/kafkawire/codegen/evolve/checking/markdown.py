"""A result in Markdown, for a comment on a change: counts, then a table for each severity, then the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkawire.codegen.emit.pages.markdown import code, words
from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding
from kafkawire.codegen.evolve.checking.wording import (
    bytes_rows,
    bytes_summary,
    kind,
    reading_text,
    subject,
    summary,
    told_together,
)

MAX_BYTES = 65_536
"""What GitHub takes as one comment, in characters; bytes are never fewer."""

_SECTIONS = {"breaking": "Breaking", "risky": "Risky", "accepted": "Accepted", "safe": "Safe"}
_OPEN = frozenset({"breaking", "risky"})
"""Sections that are shown open; the others are folded, or the comment would bury what people say."""
_CUT = "\n*The rest is left out, for a comment cannot be longer. The text output has all.*\n"


def check_markdown(result: CheckResult, limit: int = MAX_BYTES) -> str:
    """The page, ending in a line feed.

    Args:
        result: the result.
        limit: most bytes of the page in UTF-8; what does not fit is left out at the end, which is said there.
    """
    page = f"### Schema check: {code(result.older.name)} → {code(result.newer.name)}\n\n"
    page += f"**{'Failed' if result.fails else 'Passed'}**: {words(summary(result))}.\n"
    page += "".join(f"\n*{words(str(one))}.*\n" for one in result.left_out)
    for part in (*_sections(result), *_unused(result), _bytes(result)):
        if len((page + part).encode()) > limit - len(_CUT):
            return page + _CUT
        page += part
    return page


def _sections(result: CheckResult) -> Iterator[str]:
    groups = [tuple(group) for group in told_together(result.findings)]
    for name, title in _SECTIONS.items():
        chosen = [group for group in groups if kind(group[0]) == name]
        if not chosen:
            continue
        heading = f"{title} ({sum(map(len, chosen))})"
        table = "| rule | where | why |\n| --- | --- | --- |\n" + "".join(map(_row, chosen))
        if name in _OPEN:
            yield f"\n#### {heading}\n\n{table}"
        else:
            yield f"\n<details>\n<summary>{heading}</summary>\n\n{table}\n</details>\n"


def _row(group: Sequence[JudgedFinding]) -> str:
    where = "<br>".join(code(subject(judged.finding)) for judged in group)
    why = words(group[0].finding.reason)
    if group[0].accepted is not None:
        why += f"<br>*accepted:* {words(group[0].accepted.reason)}"
    return f"| {code(group[0].finding.rule)} | {where} | {why} |\n"


def _unused(result: CheckResult) -> Iterator[str]:
    if result.unused:
        items = "".join(f"- {words(str(unused))}\n" for unused in result.unused)
        yield f"\nAccepted, but no longer found:\n\n{items}"


def _bytes(result: CheckResult) -> str:
    rows = [
        f"| {code(f'{row.message} {row.versions}')} | {words(reading_text(row.old_to_new))} "
        f"| {words(reading_text(row.new_to_old))} |\n"
        for row in bytes_rows(result)
    ]
    head = "| version | newer side reads older | older side reads newer |\n| --- | --- | --- |\n"
    told = bytes_summary(result)
    return f"\n{told[0].upper()}{told[1:]}.\n" + (f"\n{head}{''.join(rows)}" if rows else "")
