"""``users``: SCRAM credentials by user and mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Table
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.secret_values import read_reference
from kafkawire.declared.planned import Kind
from kafkawire.declared.state import CredentialState
from kafkawire.model.scram import MAXIMUM_ITERATIONS, MINIMUM_ITERATIONS, ScramMechanism

MECHANISMS: Final[Mapping[str, ScramMechanism]] = MappingProxyType(
    {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}
)

KEYS: Final = ("iterations", "password")


def read_users(node: Node, reading: Reading) -> None:
    """Read the users of a document."""
    if not isinstance(node, Table) and not (isinstance(node, Scalar) and node.is_null):
        reading.hide(node)
        remedy = "write USER: SCRAM-SHA-512: {password: {env: NAME}}"
        reading.error(node, Rule.STRUCTURE, "users: expected SCRAM mechanisms by user", remedy)
        return
    for user, mechanisms in reading.entries(node, "users"):
        if not user.text:
            reading.error(user, Rule.STRUCTURE, "the name of a user is empty")
        elif not isinstance(mechanisms, Table) or not mechanisms.keys:
            reading.hide(mechanisms)
            remedy = f"write {' or '.join(MECHANISMS)}, and below it password"
            reading.error(mechanisms, Rule.STRUCTURE, f"the user {user.text}: expected SCRAM mechanisms", remedy)
        else:
            for key, value in reading.entries(mechanisms, "a user"):
                if key.text in MECHANISMS:
                    _read_credential(user.text, key, value, reading)
                else:
                    reading.hide(value)
                    reading.unknown(key, "a user", MECHANISMS)


def _read_credential(user: str, key: Scalar, node: Node, reading: Reading) -> None:
    mechanism = MECHANISMS[key.text]
    before = reading.errors
    iterations = reference = None
    if isinstance(node, Table):
        given = reading.known(node, key.text, KEYS)
        for name, value in given.items():
            if name not in KEYS:  # a misspelt password
                reading.hide(value)
        if (number := given.get("iterations")) is not None:
            iterations = reading.whole_number(number, "iterations", MINIMUM_ITERATIONS, MAXIMUM_ITERATIONS)
        if (secret := given.get("password")) is not None:
            reference = read_reference(secret, reading)
    elif not (isinstance(node, Scalar) and node.is_null):
        reading.hide(node)
        message = f"{key.text}: expected iterations and password"
        reading.error(node, Rule.STRUCTURE, message, "write {password: {env: NAME}}")
    is_sound = reading.errors == before
    what = f"the credential {key.text} of {user}"
    if reading.is_new(Kind.USERS, (user, mechanism), key, what) and is_sound:
        reading.credentials[user, mechanism] = CredentialState(iterations=iterations)
        if reference is not None:
            reading.secrets[user, mechanism] = reference
