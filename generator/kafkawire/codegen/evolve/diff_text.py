"""A comparison as lines for people: a line for each message, and below it one for each change of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafkawire.codegen.evolve.change import SchemaDiff
from kafkawire.codegen.evolve.diff_wording import (
    Sign,
    details,
    headline,
    nothing_changed,
    sign_of_message,
    summary,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text.

    Attributes:
        sign: what it tells; None for a line that tells no change.
        text: all of it, the sign included.
    """

    sign: Sign | None
    text: str


def text_lines(diff: SchemaDiff) -> Iterator[Line]:
    """The lines of a comparison, without colours and line ends."""
    yield Line(None, f"{diff.older} -> {diff.newer}")
    yield Line(None, "")
    for message in diff.messages:
        sign, told = sign_of_message(message), headline(message)
        yield Line(sign, f"{sign} {message.name}: {told}" if told else f"{sign} {message.name}")
        for detail_sign, text in details(message):
            yield Line(detail_sign, f"    {detail_sign} {text}")
    if diff.messages:
        yield Line(None, "")
    yield Line(None, summary(diff) if diff.messages else nothing_changed(diff))
