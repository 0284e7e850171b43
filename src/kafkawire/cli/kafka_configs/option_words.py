"""Words of a command line read as Kafka's tools read them, by the library joptsimple.

Options have one or two dashes. There are no abbreviations, and no letters joined to one word. An option that takes a
value takes the next word, whatever it is, or what follows ``=``. Other words count for nothing, as does all after
``--``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kafkawire.cli.kafka_configs.refusals import RefusedError
from kafkawire.near_names import did_you_mean

_END_OF_OPTIONS: Final = "--"


class Option(NamedTuple):
    """An option.

    Attributes:
        name: without dashes.
        takes_value: whether a value follows.
        separator: what divides its value into several; empty if nothing does.
    """

    name: str
    takes_value: bool = True
    separator: str = ""


class ReadOptions:
    """The options that words have.

    Args:
        given: their names and values, in the order of the words; an option without a value has None.
    """

    def __init__(self, given: Iterable[tuple[str, str | None]]) -> None:
        self._given = tuple(given)

    def __contains__(self, name: str) -> bool:
        return any(name == each for each, _ in self._given)

    def names(self) -> tuple[str, ...]:
        """The names as often as they are given, in the order of the words."""
        return tuple(name for name, _ in self._given)

    def values(self, name: str) -> tuple[str, ...]:
        """All values of an option."""
        return tuple(value for each, value in self._given if each == name and value is not None)

    def value(self, name: str) -> str | None:
        """The value of an option; None if it is not given.

        Raises:
            RefusedError: it is given more than once.
        """
        values = self.values(name)
        if len(values) > 1:
            raise RefusedError(
                f"Found multiple arguments for option {name}, but you asked for only one",
                f"--{name} is given more than once; give it once",
            )
        return values[0] if values else None


def read_options(words: Sequence[str], options: Iterable[Option]) -> ReadOptions:
    """Read words.

    Raises:
        RefusedError: a word that begins with a dash is no option, or lacks its value.
    """
    known = {option.name: option for option in options}
    return ReadOptions(_given(iter(words), known))


def _given(words: Iterator[str], known: Mapping[str, Option]) -> Iterator[tuple[str, str | None]]:
    for word in words:
        if word == _END_OF_OPTIONS:
            return
        if word.startswith("-") and word != "-":
            option, given = _option(word, known)
            if not option.takes_value:
                yield option.name, None
            else:
                value = _next_word(words, option) if given is None else given
                for part in _divided(value, option.separator):
                    yield option.name, part


def _option(word: str, known: Mapping[str, Option]) -> tuple[Option, str | None]:
    """The option that a word names, and what follows ``=``; None without it."""
    is_long = word.startswith("--")
    name, equals, given = word[2 if is_long else 1 :].partition("=")
    if name in known:
        return known[name], given if equals else None
    unknown = name if is_long else word[1]  # for joptsimple, the first of several options of one letter each
    advice = did_you_mean(f"--{name}", (f"--{each}" for each in known)) or "see --bootstrap-server HOST:PORT --help"
    raise RefusedError(
        f"{unknown} is not a recognized option", f"there is no option {word.partition('=')[0]}; {advice}"
    )


def _next_word(words: Iterator[str], option: Option) -> str:
    word = next(words, None)
    if word is None:
        raise RefusedError(f"Option {option.name} requires an argument", f"--{option.name} lacks its value; add it")
    return word


def _divided(value: str, separator: str) -> Sequence[str]:
    """Parts that are not empty; a value without any is one part."""
    parts = [part for part in value.split(separator) if part] if separator else []
    return parts or [value]
