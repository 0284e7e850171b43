"""Secrets that a file does not hold, but says where they are: a variable, a file, or a command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import msgspec

_LARGEST: Final = 1 << 20
_SECONDS: Final = 60.0


class UnavailableSecretError(Exception):
    """A secret cannot be had, or is not known; the message says whose or why, and nothing of the secret."""


class SecretReference(msgspec.Struct, frozen=True):
    """Where a secret is. Exactly one of the first three is given.

    Attributes:
        env: name of an environment variable.
        file: path of a file, from ``folder``; ``~`` is the user's folder.
        command: a program and its arguments, which prints the secret. No shell runs it.
        folder: of the file that names it; of standard input the current one.
    """

    env: str | None = None
    file: str | None = None
    command: tuple[str, ...] | None = None
    folder: str = "."

    def __str__(self) -> str:
        if self.env is not None:
            return f"the environment variable {self.env}"
        return f"the file {self.file}" if self.file is not None else f"the command {(self.command or ('',))[0]}"

    def read(self) -> str:
        """The secret, without line breaks at its end.

        Raises:
            UnavailableSecretError: it cannot be had.
        """
        text = self._text().rstrip("\r\n")
        if not text:
            raise UnavailableSecretError(f"{self} gives an empty text; a secret has at least one character")
        return text

    def _text(self) -> str:
        if self.env is not None:
            text = os.environ.get(self.env)
            if text is None:
                raise UnavailableSecretError(f"{self} is not set; set it and export it")
            return text
        return self._of_file(self.file) if self.file is not None else self._printed_by(self.command or ("",))

    def _of_file(self, name: str) -> str:
        path = Path(self.folder, Path(name).expanduser())
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "its name has a NUL"
            raise UnavailableSecretError(f"{path}: {reason}; write the secret there, or name another file") from None
        return _decoded(content, str(path))

    def _printed_by(self, command: tuple[str, ...]) -> str:
        try:
            run = subprocess.run(command, stdout=subprocess.PIPE, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise UnavailableSecretError(f"{self} did not end within {_SECONDS:g} s") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "its words have a NUL"
            raise UnavailableSecretError(f"{self} cannot be run: {reason}; correct it") from None
        if run.returncode:
            ended = f"exit code {run.returncode}" if run.returncode > 0 else f"signal {-run.returncode}"
            raise UnavailableSecretError(f"{self} failed with {ended}; run it by itself to see why")
        return _decoded(run.stdout, f"the output of {self}")


def _decoded(content: bytes, what: str) -> str:
    if len(content) > _LARGEST:
        raise UnavailableSecretError(f"{what} is larger than 1 MiB, so it is no secret")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UnavailableSecretError(f"{what} is not UTF-8") from None
