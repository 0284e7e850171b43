"""The ``struct`` codes that reading steps use, for the functions that a generated module makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafkawire.codegen.emit.reading import Bulk, ReadItems, ReadNumbers, ReadRun, ReadStep, ReadTags, ReadText


@dataclass(frozen=True, slots=True)
class ReadingCodes:
    """Codes by how they are read: once, many times, behind a short string, or until the bytes end."""

    unpack: tuple[str, ...]
    unpack_many: tuple[str, ...]
    unpack_text: tuple[str, ...]
    iterate: tuple[str, ...]


def reading_codes(steps: Iterable[ReadStep], bulks: Iterable[Bulk | None]) -> ReadingCodes:
    """The codes of all steps, those inside others included, and of arrays that are read at once."""
    reading = tuple(_all_steps(steps))
    return ReadingCodes(
        unpack=_sorted(_run_codes(reading)),
        unpack_many=_sorted(step.code for step in reading if isinstance(step, ReadNumbers)),
        unpack_text=_sorted(step.tail.code for step in reading if isinstance(step, ReadText) and step.tail),
        iterate=_sorted(bulk.code for bulk in bulks if bulk),
    )


def _run_codes(steps: Iterable[ReadStep]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, ReadRun) and step.code != "B":
            yield step.code
        elif isinstance(step, ReadText) and step.tail:
            yield step.tail.code


def _all_steps(steps: Iterable[ReadStep]) -> Iterator[ReadStep]:
    for step in steps:
        yield step
        if isinstance(step, ReadItems):
            yield from _all_steps(step.element)
        elif isinstance(step, ReadTags):
            yield from _all_steps(inner for known in step.known for inner in known.steps)


def _sorted(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(codes)))
