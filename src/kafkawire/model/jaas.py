"""JAAS entries in properties: ``org...PlainLoginModule required user_alice="secret";``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_TOKEN: Final = re.compile(
    r"\s*(?://[^\n]*\n\s*)*(?:"
    r'"(?P<double>(?:[^"\\\n]|\\.)*)"|\'(?P<single>(?:[^\'\\\n]|\\.)*)\'|(?P<sign>[=;])|(?P<word>[^\s="\';]+)|(?P<end>$))'
)
_ESCAPE: Final = re.compile(r"\\([0-3]?[0-7]{1,2}|.)")
_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})


class JaasError(Exception):
    """An invalid entry; the message does not quote it, since it has passwords."""


def jaas_options(text: str) -> dict[str, str]:
    """The options of the one login module of an entry.

    Raises:
        JaasError: it is not ``class flag name=value ... ;``.
    """
    tokens = _tokens(text)
    if not next(tokens, "") or next(tokens, "").lower() not in _FLAGS:
        raise JaasError("it does not begin with the class of a login module and required")
    options: dict[str, str] = {}
    for name in tokens:
        if name == ";":
            if next(tokens, None) is not None:
                raise JaasError("it has more than one login module")
            return options
        if next(tokens, "") != "=" or (value := next(tokens, None)) in {None, "=", ";"}:
            raise JaasError("it has an option that is not name=value")
        options[name] = value or ""
    raise JaasError("it does not end with a semicolon")


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while True:
        token = _TOKEN.match(text, at)
        if token is None:
            raise JaasError("a quotation mark is missing")
        if token["end"] is not None:
            return
        at = token.end()
        quoted = token["double"] if token["double"] is not None else token["single"]
        yield _ESCAPE.sub(_character, quoted) if quoted is not None else token["sign"] or token["word"]


def _character(escape: re.Match[str]) -> str:
    escaped = escape[1]
    return chr(int(escaped, 8)) if escaped.isdigit() else _ESCAPED.get(escaped, escaped)
