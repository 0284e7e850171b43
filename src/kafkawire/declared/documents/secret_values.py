"""Secrets in documents: where they are, never the secret itself."""

from __future__ import annotations

from typing import Final

from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.secret_references import SecretReference

KEYS: Final = ("env", "file", "command")
_FORMS: Final = "write {env: NAME}, {file: PATH} or {command: [PROGRAM, ARGUMENT]}"


def read_reference(node: Node, reading: Reading) -> SecretReference | None:
    """Where a secret is; None, with a problem, for anything else. No message has what may be the secret."""
    if isinstance(node, Scalar) and not node.is_null:
        reading.hide(node)
        message = "a secret as plain text: whoever reads the document would have it"
        reading.error(node, Rule.STRUCTURE, message, _FORMS)
        return None
    if isinstance(node, Scalar | Sequence):
        reading.error(node, Rule.STRUCTURE, "expected where the secret is", _FORMS)
        return None
    found = reading.only(node, "a secret", KEYS)
    if found is None:
        return None
    key, value = found
    if key == "command":
        if not isinstance(value, Sequence):
            reading.error(value, Rule.STRUCTURE, "command: expected a list", "write [PROGRAM, ARGUMENT]; no shell runs")
            return None
        words = reading.names(value, "command")
        return SecretReference(command=tuple(words), folder=reading.folder) if words else None
    name = reading.name(value, key)
    if name is None:
        return None
    return SecretReference(**{key: name}, folder=reading.folder)  # type: ignore[arg-type]  # the keys are its fields
