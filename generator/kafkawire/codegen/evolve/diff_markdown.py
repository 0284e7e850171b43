"""A comparison as a comment on a change: a table of counts, then the messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkawire.codegen.emit.pages.markdown import code, words
from kafkawire.codegen.evolve.change import MessageChanges, SchemaDiff, Status
from kafkawire.codegen.evolve.diff_wording import counts, details, headline, nothing_changed

MAX_BYTES = 65_536
"""What GitHub takes as one comment, in characters; bytes are never fewer."""

_OPEN_MESSAGES = 10
"""So many messages of a kind are shown open; more are folded, or the comment would bury what people say."""

_GROUPS: tuple[Status, ...] = ("removed", "retired", "changed", "restored", "added")
_COLUMNS = ("added", "removed", "dropped", "retired", "restored", "renamed", "changed", "unchanged")
_COLOURED = {"+": "+", "-": "-", "~": "!"}
"""The signs that a block of the language ``diff`` has colours for."""


def diff_markdown(diff: SchemaDiff, limit: int = MAX_BYTES) -> str:
    """The page, ending in a line feed.

    Args:
        diff: the comparison.
        limit: most bytes of the page in UTF-8; messages that do not fit are left out and counted.
    """
    title = f"### Message definitions: {code(diff.older)} → {code(diff.newer)}\n\n"
    title += "".join(f"*{words(str(one))}.*\n\n" for one in diff.left_out)
    if not diff.messages:
        return f"{title}{nothing_changed(diff).capitalize()}.\n"
    page = title + "".join(f"{line}\n" for line in _table(diff))
    room = limit - _size(page) - _size(_left_out(len(diff.messages), diff))
    shown = 0
    for group in _groups(diff.messages):
        text, number = group.within(room)
        page += text
        room -= _size(text)
        shown += number
    missing = len(diff.messages) - shown
    return page + (_left_out(missing, diff) if missing else "")


def _size(text: str) -> int:
    return len(text.encode())


def _left_out(number: int, diff: SchemaDiff) -> str:
    total = len(diff.messages)
    return f"\n*{number} of {total} messages are left out, for a comment cannot be longer. The text output has all.*\n"


def _table(diff: SchemaDiff) -> Iterator[str]:
    """What happened to messages, versions and fields; a column for what happened at all."""
    rows = counts(diff)
    happened = [column for column in _COLUMNS if any(row.get(column) for row in rows.values())]
    yield "| | " + " | ".join(happened) + " |"
    yield "| --- |" + " ---: |" * len(happened)
    for noun, row in rows.items():
        yield f"| {noun} | " + " | ".join(str(row.get(word, "")) for word in happened) + " |"


@dataclass(frozen=True, slots=True)
class _Group:
    """The sections of all messages that had the same fate."""

    opening: str
    sections: tuple[str, ...]
    closing: str

    def within(self, room: int) -> tuple[str, int]:
        """As many sections as fit, and how many those are."""
        room -= _size(self.opening + self.closing)
        fitting: list[str] = []
        for section in self.sections:
            room -= _size(section)
            if room < 0:
                break
            fitting.append(section)
        return (self.opening + "".join(fitting) + self.closing if fitting else ""), len(fitting)


def _groups(messages: Sequence[MessageChanges]) -> Iterator[_Group]:
    for status in _GROUPS:
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
    """A message that came or went, of which the headline tells all."""
    return f"- {code(message.name)}: {_arrows(headline(message))}\n"


def _section(message: MessageChanges) -> str:
    text = f"#### {code(message.name)}\n\n"
    told = headline(message)
    if told:
        text += f"{_arrows(told)}\n\n"
    lines = [f"{_COLOURED[sign]} {sentence}" for sign, sentence in details(message)]
    return text + (_block(lines) + "\n" if lines else "")


def _arrows(text: str) -> str:
    return words(text.replace("->", "→"))


def _block(lines: Sequence[str]) -> str:
    """Lines that are shown as they are: the fence is longer than any that a default could close it with."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return "".join(f"{line}\n" for line in (f"{fence}diff", *lines, fence))
