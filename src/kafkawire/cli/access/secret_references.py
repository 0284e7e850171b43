"""Secrets that a file of contexts does not hold, but says where they are: a variable, a file, or a command."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.cli.outcome import CommandError

_LARGEST: Final = 1 << 20
_SECONDS: Final = 60.0

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
            text = self._text(folder).rstrip("\r\n")
        except _UnavailableError as error:
            raise CommandError(f"{what}: {error}") from None
        if not text:
            raise CommandError(f"{what}: {self} gives an empty text; a secret has at least one character")
        return text

    def _text(self, folder: Path) -> str:
        if self.env is not None:
            text = os.environ.get(self.env)
            if text is None:
                raise _UnavailableError(f"the environment variable {self.env} is not set; set it and export it")
            return text
        return _of_file(located(self.file, folder)) if self.file is not None else _printed_by(self.command or ())


class _UnavailableError(Exception):
    """Why a secret cannot be had."""


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


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise _UnavailableError(f"{path}: {error.strerror}; write the secret there, or name another file") from None
    return _decoded(content, str(path))


def _printed_by(command: tuple[str, ...]) -> str:
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise _UnavailableError(f"the command {command[0]} did not end within {_SECONDS:g} s") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its words hold a NUL character"
        raise _UnavailableError(f"the command {command[0]} cannot be run: {reason}; correct the context") from None
    if run.returncode:
        said = f"exit code {run.returncode}" if run.returncode > 0 else f"signal {-run.returncode}"
        raise _UnavailableError(f"the command {command[0]} failed with {said}; run it by itself to see why")
    return _decoded(run.stdout, f"the output of {command[0]}")


def _decoded(content: bytes, what: str) -> str:
    if len(content) > _LARGEST:
        raise _UnavailableError(f"{what} is larger than 1 MiB, so it is no secret")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise _UnavailableError(f"{what} is not UTF-8") from None
