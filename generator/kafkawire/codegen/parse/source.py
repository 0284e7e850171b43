"""Reads JSON with comments, with the position of every key and value (file-json-with-comments).

No library has positions of keys and values, reports repeated keys and continues after an error; see
``docs/decisions/0003-reading-definitions.md``. Values stay as written: numbers are texts, which the reader of the
attribute converts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, cast

import msgspec

from kafkawire.codegen.check.json_level import FILE_ENCODING, FILE_NESTING, JSON_SYNTAX, JSON_TRAILING_TOKENS
from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import Span
from kafkawire.codegen.findings import Finding

DEEPEST_NESTING = 64
"""Objects and lists inside each other; real definitions nest about ten deep."""

ScalarKind = Literal["string", "number", "boolean", "null", "broken"]


class Scalar(msgspec.Struct, frozen=True, gc=False):
    """A string (`text` is its content), a number, ``true``, ``false`` or ``null`` (`text` as written).

    ``broken`` is a value with a finding.
    """

    kind: ScalarKind
    text: str
    span: Span


class Sequence(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple[Node, ...]
    span: Span


class Member(msgspec.Struct, frozen=True):
    """A key of an object with its value."""

    key: str
    key_span: Span
    value: Node


class Object(msgspec.Struct, frozen=True):
    """An object: its members in the order of the file, repeated keys included."""

    members: tuple[Member, ...]
    span: Span


Node = Scalar | Sequence | Object


class Lines:
    """The lines of a text: from offsets to lines and columns, both counted from 1."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        line, column = self._position(start)
        end_line, end_column = self._position(end)
        return Span(line, column, end_line, end_column)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line without its end; empty if there is no such line."""
        if not 1 <= number <= len(self._starts):
            return ""
        end = self._starts[number] if number < len(self._starts) else len(self._text)
        return self._text[self._starts[number - 1] : end].rstrip("\r\n")


def parse_source(text: str, file: str) -> tuple[Node | None, list[Finding]]:
    """Read one JSON value with comments.

    Errors that leave the structure clear (a superfluous or missing comma, a bare word) are reported, and reading
    continues; at others it stops.

    Returns:
        The value, or None if reading stopped, and the findings.
    """
    reader = _Reader(text, file)
    try:
        return reader.document(), reader.findings
    except _LostStructureError:
        return None, reader.findings


def decode_source(data: bytes, file: str) -> tuple[str, list[Finding]]:
    """The text of a file; bytes that are not UTF-8 are reported once and replaced, so that reading can continue."""
    try:
        return data.decode(), []
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        text = data.decode(errors="replace")
        span = Lines(text).span(len(before), len(before) + 1)
        return text, [FILE_ENCODING.finding(file, span, f"byte 0x{data[error.start]:02x} is not UTF-8 here")]


# A blank or a comment; the possessive quantifiers keep hostile input linear.
_BLANKS = r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_TOKEN = re.compile(
    _BLANKS + r"(?:([{}\[\]:,])"  # 1: punctuation
    r'|"([^"\\\x00-\x1f]*+)"'  # 2: the content of a plain string
    r'|("(?:[^"\\\r\n]|\\[^\r\n])*+(")?)'  # 3: any other string; 4: its closing quotes
    r'|([^\s{}\[\]:,"/]++)'  # 5: a word
    r"|(/\*|.))?",  # 6: a comment that is not closed, or a stray character
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_CONTROL = re.compile(r"[\x00-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: dict[str, ScalarKind] = {"true": "boolean", "false": "boolean", "null": "null"}

TokenKind = Literal["punctuation", "string", "word", "end"]


class _Token(msgspec.Struct, frozen=True, gc=False):
    """A token and its offsets; `broken` is a string with a finding."""

    kind: TokenKind
    text: str
    start: int
    end: int
    broken: bool = False


class _LostStructureError(Exception):
    """The structure of the text is lost; a finding says where."""


class _Reader:
    """Recursive descent over the tokens; `_token` is the one that comes next."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._lines = Lines(text)
        self.findings: list[Finding] = []
        self._token = _Token("end", "", 0, 0)

    def document(self) -> Node:
        """The whole text."""
        has_mark = self._text.startswith("\ufeff")
        if has_mark:
            self._report(FILE_ENCODING, 0, 1, "the file begins with a byte order mark")
        self._token = self._next_token(int(has_mark))
        if self._token.kind == "end":
            raise self._lost("the file has no object")
        if self._token.kind == "word" and not _is_value(self._token.text):
            raise self._lost(f"expected the object of a definition, found {_quoted(self._token)}")
        node = self._value(0)
        if isinstance(node, Scalar) and node.kind == "broken":
            raise _LostStructureError
        token = self._token
        if isinstance(node, Object) and token.kind != "end":
            self._report(JSON_TRAILING_TOKENS, token.start, token.end, f"{_quoted(token)} after the end of the object")
        return node

    def _value(self, depth: int) -> Node:
        token = self._token
        if token.kind == "string":
            self._advance()
            return Scalar("broken" if token.broken else "string", token.text, self._lines.span(token.start, token.end))
        if token.kind == "word":
            self._advance()
            return self._word(token)
        if token.text in ("{", "["):
            if depth == DEEPEST_NESTING:
                what = f"more than {DEEPEST_NESTING} levels of nesting"
                raise self._stop(FILE_NESTING, token.start, token.end, what)
            return self._object(depth + 1) if token.text == "{" else self._sequence(depth + 1)
        raise self._lost(f"expected a value, found {_quoted(token)}")

    def _word(self, token: _Token) -> Scalar:
        span = self._lines.span(token.start, token.end)
        if token.text in _LITERALS:
            return Scalar(_LITERALS[token.text], token.text, span)
        if _NUMBER.fullmatch(token.text):
            return Scalar("number", token.text, span)
        self._report(JSON_SYNTAX, token.start, token.end, f"{_quoted(token)} is not a value of JSON")
        return Scalar("broken", token.text, span)

    def _object(self, depth: int) -> Object:
        start = self._token.start
        self._advance()
        members: list[Member] = []
        while self._has_item(start, "}", first=not members):
            members.append(self._member(depth))
        return Object(tuple(members), self._lines.span(start, self._close()))

    def _member(self, depth: int) -> Member:
        key = self._token
        if key.kind == "word":
            self._report(JSON_SYNTAX, key.start, key.end, f"the key {_quoted(key)} has no double quotes")
        elif key.kind != "string":
            raise self._lost(f"expected a key, found {_quoted(key)}")
        self._advance()
        if self._token.text != ":" or self._token.kind != "punctuation":
            raise self._lost(f"expected a colon after {_quoted(key)}, found {_quoted(self._token)}")
        self._advance()
        return Member(key.text, self._lines.span(key.start, key.end), self._value(depth))

    def _sequence(self, depth: int) -> Sequence:
        start = self._token.start
        self._advance()
        items: list[Node] = []
        while self._has_item(start, "]", first=not items):
            items.append(self._value(depth))
        return Sequence(tuple(items), self._lines.span(start, self._close()))

    def _has_item(self, start: int, closing: str, *, first: bool) -> bool:
        """Skip the comma before an item; False at the closing bracket. Superfluous and missing commas are reported."""
        token = self._token
        if self._is(closing):
            return False
        if token.kind == "end":
            raise self._stop(JSON_SYNTAX, start, start + 1, f'"{self._text[start]}" is never closed')
        if first:
            return True
        if not self._is(","):
            if token.kind == "punctuation" and token.text not in "{[":
                raise self._lost(f'expected a comma or "{closing}", found {_quoted(token)}')
            self._report(JSON_SYNTAX, token.start, token.end, f"a comma is missing before {_quoted(token)}")
            return True
        self._advance()
        if self._is(closing):
            self._report(JSON_SYNTAX, token.start, token.end, f'a comma before the closing "{closing}"')
            return False
        return True

    def _is(self, punctuation: str) -> bool:
        return self._token.kind == "punctuation" and self._token.text == punctuation

    def _close(self) -> int:
        end = self._token.end
        self._advance()
        return end

    def _advance(self) -> None:
        self._token = self._next_token(self._token.end)

    def _next_token(self, offset: int) -> _Token:
        match = cast(re.Match[str], _TOKEN.match(self._text, offset))  # it matches the empty text too
        group = match.lastindex
        if group == 1:
            return _Token("punctuation", match[1], match.start(1), match.end())
        if group == 2:
            return _Token("string", match[2], match.start(2) - 1, match.end())
        if group == 5:
            return _Token("word", match[5], match.start(5), match.end())
        if group is None:
            end = len(self._text.rstrip())
            return _Token("end", "", end, end)
        if group == 3:
            return self._string(match.start(3), match[3], is_closed=match[4] is not None)
        start = match.start(group)
        stray = "the comment is not closed" if match[6] == "/*" else f"stray {match[6]!r}"
        raise self._stop(JSON_SYNTAX, start, match.end(), stray)

    def _string(self, start: int, literal: str, *, is_closed: bool) -> _Token:
        """A string with escapes, or an invalid one."""
        end = start + len(literal)
        if not is_closed:
            raise self._stop(JSON_SYNTAX, start, end, "the string is not closed")
        sound = self._check_control_characters(start, literal) and self._check_escapes(start, literal)
        text = _unescape(literal[1:-1])
        if _SURROGATE.search(text):
            what = "the string has half of a surrogate pair"
            self._report(FILE_ENCODING, start, end, what, "write both halves, or the character itself")
            sound = False
        return _Token("string", text, start, end, not sound)

    def _check_control_characters(self, start: int, literal: str) -> bool:
        control = _CONTROL.search(literal)
        if control is None:
            return True
        at = start + control.start()
        self._report(JSON_SYNTAX, at, at + 1, f"the control character {control[0]!r} in a string")
        return False

    def _check_escapes(self, start: int, literal: str) -> bool:
        for match in _ESCAPE.finditer(literal, 1, len(literal) - 1):
            if match[1] is None and match[2] not in _ESCAPED:
                at = start + match.start()
                self._report(JSON_SYNTAX, at, at + 2, f"{match[0]} is not an escape of JSON")
                return False
        return True

    def _lost(self, message: str) -> _LostStructureError:
        token = self._token
        return self._stop(JSON_SYNTAX, token.start, token.end, message)

    def _stop(self, rule: Rule, start: int, end: int, message: str) -> _LostStructureError:
        self._report(rule, start, end, message)
        return _LostStructureError()

    def _report(self, rule: Rule, start: int, end: int, message: str, remedy: str = "") -> None:
        self.findings.append(rule.finding(self._file, self._lines.span(start, end), message, remedy))


def _is_value(word: str) -> bool:
    return word in _LITERALS or _NUMBER.fullmatch(word) is not None


def _quoted(token: _Token) -> str:
    """A token as it appears in messages."""
    if token.kind == "end":
        return "the end of the file"
    return '"' + (token.text if len(token.text) <= 40 else token.text[:37] + "...") + '"'


def _unescape(content: str) -> str:
    def replace(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])

    text = _ESCAPE.sub(replace, content)
    # Two escapes may be one character: halves of a surrogate pair are joined, lone ones stay as they are.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
