"""Version ranges: the one interval type of the definition language."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

OPEN_END = 0x7FFF
"""The highest int16; as the end of a range it means "and all later versions"."""


@dataclass(frozen=True, slots=True)
class Versions:
    """An interval of message versions, both ends included; every empty interval is ``Versions(0, -1)``.

    Raises:
        ValueError: if an end lies outside 0 to 32767.
    """

    lowest: int
    highest: int

    def __post_init__(self) -> None:
        if self.lowest > self.highest:
            object.__setattr__(self, "lowest", 0)
            object.__setattr__(self, "highest", -1)
        elif self.lowest < 0 or self.highest > OPEN_END:
            raise ValueError(f"versions lie between 0 and {OPEN_END}: {self.lowest}-{self.highest}")

    @property
    def is_empty(self) -> bool:
        """Whether no version is in the range."""
        return self.lowest > self.highest

    @property
    def is_open(self) -> bool:
        """Whether the range has no upper end (``2+``)."""
        return self.highest == OPEN_END

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __bool__(self) -> bool:
        return not self.is_empty

    def contains(self, other: Versions) -> bool:
        """Whether every version of ``other`` is in this range; the empty range is in every range."""
        return other.is_empty or (self.lowest <= other.lowest and other.highest <= self.highest)

    def intersect(self, other: Versions) -> Versions:
        """The versions that both have."""
        return Versions(max(self.lowest, other.lowest), min(self.highest, other.highest))

    def subtract(self, other: Versions) -> Versions | None:
        """This range without ``other``, or None if that would be two ranges."""
        common = self.intersect(other)
        if common.is_empty:
            return self
        if common == self:
            return NO_VERSIONS
        if common.lowest == self.lowest:
            return Versions(common.highest + 1, self.highest)
        if common.highest == self.highest:
            return Versions(self.lowest, common.lowest - 1)
        return None

    def __str__(self) -> str:
        """Canonical text: ``none``, ``N``, ``N+`` or ``N-M``."""
        if self.is_empty:
            return "none"
        if self.is_open:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


NO_VERSIONS = Versions(0, -1)
ALL_VERSIONS = Versions(0, OPEN_END)


def ranges_of(versions: Set[int]) -> tuple[Versions, ...]:
    """Versions as ranges without gaps, ascending."""
    lowest = sorted(version for version in versions if version - 1 not in versions)
    highest = sorted(version for version in versions if version + 1 not in versions)
    return tuple(map(Versions, lowest, highest))


def versions_text(versions: Set[int]) -> str:
    """Versions in ascending order as short text: ``0-2, 5``."""
    return ", ".join(map(str, ranges_of(versions)))


class VersionsSyntaxError(ValueError):
    """Text that is not a version range.

    Attributes:
        rule: ``versions-not-a-number``, ``versions-negative`` or ``gap-reversed-range``.
    """

    def __init__(self, rule: str, message: str) -> None:
        self.rule = rule
        super().__init__(message)


def parse_versions(text: str) -> Versions:
    """Read ``none``, ``3``, ``0-3`` or ``2+``; outer blanks are trimmed. A reversed range counts as empty.

    Raises:
        VersionsSyntaxError: for anything else, blank text included.
    """
    text = text.strip()
    if text == "none":
        return NO_VERSIONS
    if text.endswith("+"):
        return Versions(_bound(text[:-1], text), OPEN_END)
    low, dash, high = text.partition("-")
    if dash and not low:
        raise VersionsSyntaxError("versions-negative", f"{text!r} has a negative bound")
    lowest = _bound(low, text)
    return Versions(lowest, _bound(high, text) if dash else lowest)


def _bound(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit()):
        rule = "versions-negative" if digits.startswith("-") else "versions-not-a-number"
        raise VersionsSyntaxError(rule, f"{digits!r} in {text!r} is not a version number")
    number = int(digits[:6])
    if number > OPEN_END or len(digits) > 5:
        raise VersionsSyntaxError("versions-not-a-number", f"{digits!r} in {text!r} is above {OPEN_END}")
    return number
