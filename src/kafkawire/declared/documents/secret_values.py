"""Secrets in documents: where they are, never the secret itself."""

from __future__ import annotations

from typing import Final

from kafkawire.declared.documents.fields import Reading, kind_of
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.secret_references import SecretReference

KEYS: Final = ("env", "file", "command")
_FORMS: Final = "write {env: NAME}, {file: PATH} or {command: [PROGRAM, ARGUMENT]}"


def read_reference(node: Node, reading: Reading) -> SecretReference | None:
    """Where a secret is; None, with a problem, for anything else. No message has what may be the secret."""
    if isinstance(node, Scalar) and not node.is_null:
        reading.hide(node)
        message = "a secret as plain text, which every reader of the document would have"
        reading.error(node, Rule.STRUCTURE, message, _FORMS)
        return None
    if isinstance(node, Scalar | Sequence):
        reading.hide(node)
        reading.error(node, Rule.STRUCTURE, "expected where the secret is", _FORMS)
        return None
    found = reading.only(node, "a secret", KEYS)
    if found is None:
        for value in node.values:
            reading.hide(value)
        return None
    key, value = found
    if key == "command":
        if not isinstance(value, Sequence):
            reading.hide(value)
            reading.error(value, Rule.STRUCTURE, "command: expected a list", "write [PROGRAM, ARGUMENT]; no shell runs")
            return None
        words = _words(value, reading)
        return SecretReference(command=words, folder=reading.folder) if words else None
    name = reading.name(value, key)
    if name is None:
        return None
    return SecretReference(**{key: name}, folder=reading.folder)  # type: ignore[arg-type]  # the keys are its fields


def _words(node: Sequence, reading: Reading) -> tuple[str, ...]:
    """A program and its arguments; none with a problem."""
    words = []
    for each in reading.items(node):
        if isinstance(each, Scalar) and not each.is_null and each.boolean is None:
            words.append(each.text)
        else:
            reading.error(each, Rule.STRUCTURE, f"command: expected a text, found {kind_of(each)}", "put it in quotes")
            return ()
    if words and not words[0]:
        reading.error(node, Rule.VALUE, "command: the program is empty", _FORMS)
        return ()
    return tuple(words)
