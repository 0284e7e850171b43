"""Where a new password comes from: a variable, a file, a command, a question on the terminal, or chance."""

from __future__ import annotations

import secrets
import shlex
import sys
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from kafkawire.cli.access.secret_references import SecretReference
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.visible import visible

PANEL: Final = "The password; else the terminal asks"

EnvOption = Annotated[
    str | None,
    typer.Option("--password-env", metavar="NAME", help="In an environment variable.", rich_help_panel=PANEL),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--password-file", metavar="FILE", help="In a file; its last line break is left out.", rich_help_panel=PANEL
    ),
]
CommandOption = Annotated[
    str | None,
    typer.Option(
        "--password-command", metavar="WORDS", help="Printed by a program; no shell runs it.", rich_help_panel=PANEL
    ),
]
GenerateOption = Annotated[
    bool,
    typer.Option("--generate", help="A random one for each user, which is printed once.", rich_help_panel=PANEL),
]

_RANDOM_BYTES: Final = 24


class PasswordSource(NamedTuple):
    """What the options say.

    Attributes:
        env, file, command: where it is.
        generate: whether it is made.
    """

    env: str | None = None
    file: Path | None = None
    command: str | None = None
    generate: bool = False

    def check(self) -> None:
        """Refuse more than one source.

        Raises:
            CommandError: there are several.
        """
        if sum((self.env is not None, self.file is not None, self.command is not None, self.generate)) > 1:
            message = "give one of --password-env, --password-file, --password-command and --generate"
            raise CommandError(message, ExitCode.USAGE)

    def password(self, user: str) -> str:
        """The password of a user.

        Raises:
            CommandError: it cannot be had, or there is no terminal to ask on.
        """
        if self.generate:
            return generated()
        reference = self._reference()
        return asked(user) if reference is None else reference.secret("the password", Path())

    def _reference(self) -> SecretReference | None:
        try:
            if self.env is not None:
                return SecretReference(env=self.env)
            if self.file is not None:
                return SecretReference(file=str(self.file))
            return None if self.command is None else SecretReference(command=tuple(shlex.split(self.command)))
        except ValueError as error:
            raise CommandError(f"the password: where it is {error}; name it", ExitCode.USAGE) from None


def generated() -> str:
    """A password of 32 letters, digits, hyphens and underscores."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def asked(user: str) -> str:
    """What the user types twice without seeing it.

    Raises:
        CommandError: there is no terminal, or the two differ.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = (
            f"no password is given for {visible(user)}, and there is no terminal to ask on; give --password-env, "
            "--password-file, --password-command or --generate"
        )
        raise CommandError(message, ExitCode.USAGE)
    from getpass import getpass  # noqa: PLC0415 only for this

    try:
        password = getpass(f"Password of {visible(user)}: ", sys.stderr)
        again = getpass("The same again: ", sys.stderr)
    except EOFError:
        raise CommandError("no password was typed; nothing was changed") from None
    if password != again:
        raise CommandError("the two passwords differ; nothing was changed")
    if not password:
        raise CommandError("the password is empty; nothing was changed")
    return password
