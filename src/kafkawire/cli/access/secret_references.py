"""Secrets that a file of contexts does not hold, but says where they are: a variable, a file, or a command."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.cli.outcome import CommandError
from kafkawire.declared.documents.secret_references import SecretReference as PlacedReference, UnavailableSecretError

_SECRET_WORDS: Final = ("password", "secret", "jaas", "keystore.key", "token.value")


def is_secret(name: str) -> bool:
    """Whether the value of a property is a secret, as far as its name says."""
    return any(word in name.lower() for word in _SECRET_WORDS)


class SecretReference(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a secret is. Exactly one of the three is given.

    Attributes:
        env: name of an environment variable.
        file: path of a file, from the folder of the file of contexts.
        command: a program and its arguments, which prints the secret. No shell runs it.
    """

    env: str | None = None
    file: str | None = None
    command: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.env, self.file, self.command)) != 1:
            raise ValueError("give exactly one of env, file and command")
        if not (self.env or self.file or self.command):
            raise ValueError("is empty")

    def __str__(self) -> str:
        """Where the secret is, as ``--secret`` takes it."""
        if self.env is not None:
            return f"env:{self.env}"
        return f"file:{self.file}" if self.file is not None else f"command:{shlex.join(self.command or ())}"

    def secret(self, what: str, folder: Path) -> str:
        """The secret, without line breaks at its end.

        Args:
            what: names it in errors.
            folder: of the file of contexts.

        Raises:
            CommandError: it cannot be had; says why, and nothing of the secret.
        """
        try:
            return PlacedReference(self.env, self.file, self.command, str(folder)).read()
        except UnavailableSecretError as error:
            raise CommandError(f"{what}: {error}") from None


def parse_reference(text: str) -> SecretReference:
    """A reference as ``--secret`` takes it: ``env:NAME``, ``file:PATH`` or ``command:WORDS``.

    Raises:
        ValueError: it is none of these. The message does not quote it: it may be the secret itself.
    """
    kind, _, rest = text.partition(":")
    match kind:
        case "env":
            return SecretReference(env=rest)
        case "file":
            return SecretReference(file=rest)
        case "command":
            return SecretReference(command=tuple(shlex.split(rest)))
        case _:
            raise ValueError("write env:VARIABLE, file:PATH or command:WORDS, never the secret itself")


def located(path: str, folder: Path) -> Path:
    """A path of a file of contexts: ``~`` is the user's folder, and a relative path begins at the file's folder."""
    return folder / Path(path).expanduser()
