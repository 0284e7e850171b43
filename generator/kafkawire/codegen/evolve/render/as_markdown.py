"""Comparisons as Markdown for a comment on a pull request, never longer than GitHub accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkawire.codegen.emit.pages.markdown import code, words
from kafkawire.codegen.evolve.change import MessageChanges, SchemaDiff, Status
from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding
from kafkawire.codegen.evolve.render.check_wording import (
    bytes_rows,
    bytes_summary,
    grouped,
    kind,
    reading_text,
    subject,
    summary,
)
from kafkawire.codegen.evolve.render.diff_wording import counts, details, headline, nothing_changed

MAX_BYTES = 65_536
"""What GitHub accepts as one comment, in characters; the number of bytes is never lower."""

_OPEN_MESSAGES = 10
"""Most messages of a kind that are shown open; longer lists are folded, so that comments by people stay visible."""

_STATUSES: tuple[Status, ...] = ("removed", "retired", "changed", "restored", "added")
_COLUMNS = ("added", "removed", "dropped", "retired", "restored", "renamed", "changed", "unchanged")
_COLOURED = {"+": "+", "-": "-", "~": "!"}
"""The signs that a block of the language ``diff`` has colours for."""

_SECTIONS = {"breaking": "Breaking", "risky": "Risky", "accepted": "Accepted", "safe": "Safe"}
_OPEN_SECTIONS = frozenset({"breaking", "risky"})
_CUT = "\n*The rest is left out, for a comment cannot be longer. The text output has all.*\n"


def diff_markdown(diff: SchemaDiff, limit: int = MAX_BYTES) -> str:
    """What changed: a table of counts, then the messages.

    Args:
        diff: the comparison.
        limit: most bytes of the page in UTF-8; messages that do not fit are left out and counted.
    """
    page = f"### Message definitions: {code(diff.older)} → {code(diff.newer)}\n\n"
    page += "".join(f"*{words(str(one))}.*\n\n" for one in diff.left_out)
    if not diff.messages:
        return f"{page}{nothing_changed(diff).capitalize()}.\n"
    page += "".join(f"{line}\n" for line in _table(diff))
    room = limit - _size(page) - _size(_left_out(len(diff.messages), diff))
    shown = 0
    for group in _groups(diff.messages):
        text, number = group.within(room)
        page += text
        room -= _size(text)
        shown += number
    missing = len(diff.messages) - shown
    return page + (_left_out(missing, diff) if missing else "")


def check_markdown(result: CheckResult, limit: int = MAX_BYTES) -> str:
    """The findings: counts, then a table for each severity, then the comparison of bytes.

    Args:
        result: the result.
        limit: most bytes of the page in UTF-8; the end is cut off where it does not fit, with a note.
    """
    page = f"### Schema check: {code(result.older.name)} → {code(result.newer.name)}\n\n"
    page += f"**{'Failed' if result.fails else 'Passed'}**: {words(summary(result))}.\n"
    page += "".join(f"\n*{words(str(one))}.*\n" for one in result.left_out)
    for part in (*_findings(result), *_unused(result), _bytes(result)):
        if _size(page + part) > limit - len(_CUT):
            return page + _CUT
        page += part
    return page


def _size(text: str) -> int:
    return len(text.encode())


def _left_out(number: int, diff: SchemaDiff) -> str:
    total = len(diff.messages)
    return f"\n*{number} of {total} messages are left out, for a comment cannot be longer. The text output has all.*\n"


def _table(diff: SchemaDiff) -> Iterator[str]:
    """The counts of messages, versions and fields, without columns that are all zero."""
    rows = counts(diff)
    shown = [column for column in _COLUMNS if any(row.get(column) for row in rows.values())]
    yield "| | " + " | ".join(shown) + " |"
    yield "| --- |" + " ---: |" * len(shown)
    for noun, row in rows.items():
        yield f"| {noun} | " + " | ".join(str(row.get(word, "")) for word in shown) + " |"


@dataclass(frozen=True, slots=True)
class _Group:
    """The sections of all messages of one status."""

    opening: str
    sections: tuple[str, ...]
    closing: str

    def within(self, room: int) -> tuple[str, int]:
        """The sections that fit into a number of bytes, and how many they are."""
        room -= _size(self.opening + self.closing)
        fitting: list[str] = []
        for section in self.sections:
            room -= _size(section)
            if room < 0:
                break
            fitting.append(section)
        return (self.opening + "".join(fitting) + self.closing if fitting else ""), len(fitting)


def _groups(messages: Sequence[MessageChanges]) -> Iterator[_Group]:
    for status in _STATUSES:
        chosen = [message for message in messages if message.status == status]
        if not chosen:
            continue
        title = f"{len(chosen)} {'message' if len(chosen) == 1 else 'messages'} {status}"
        sections = tuple(map(_section if status == "changed" else _item, chosen))
        if len(chosen) > _OPEN_MESSAGES:
            yield _Group(f"\n<details>\n<summary>{title}</summary>\n\n", sections, "\n</details>\n")
        else:
            yield _Group(f"\n**{title}**\n\n", sections, "")


def _item(message: MessageChanges) -> str:
    """A message that was added or removed; its headline says everything."""
    return f"- {code(message.name)}: {_arrows(headline(message))}\n"


def _section(message: MessageChanges) -> str:
    text = f"#### {code(message.name)}\n\n"
    if head := headline(message):
        text += f"{_arrows(head)}\n\n"
    lines = [f"{_COLOURED[sign]} {sentence}" for sign, sentence in details(message)]
    return text + (_block(lines) + "\n" if lines else "")


def _arrows(text: str) -> str:
    return words(text.replace("->", "→"))


def _block(lines: Sequence[str]) -> str:
    """A block of code; its fence is longer than any row of backticks in the lines, which would close it."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return "".join(f"{line}\n" for line in (f"{fence}diff", *lines, fence))


def _findings(result: CheckResult) -> Iterator[str]:
    groups = list(grouped(result.findings))
    for name, title in _SECTIONS.items():
        chosen = [group for group in groups if kind(group[0]) == name]
        if not chosen:
            continue
        heading = f"{title} ({sum(map(len, chosen))})"
        table = "| rule | where | why |\n| --- | --- | --- |\n" + "".join(map(_row, chosen))
        if name in _OPEN_SECTIONS:
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
    text = bytes_summary(result)
    return f"\n{text[0].upper()}{text[1:]}.\n" + (f"\n{head}{''.join(rows)}" if rows else "")
