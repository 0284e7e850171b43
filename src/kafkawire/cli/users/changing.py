"""``kafkawire users set`` and ``delete``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import BlockingAdminClient, Results, ScramDeletion, ScramMechanism, ScramUpsertion
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    end_with,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.access.secret_references import SecretReference
from kafkawire.cli.items import FromOption, given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.users.passwords import (
    CommandOption,
    EnvOption,
    FileOption,
    GenerateOption,
    PasswordSource,
    generated,
)
from kafkawire.cli.users.reading import mechanism_name, with_suggestions
from kafkawire.cli.visible import visible
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words
from kafkawire.model.redaction import Redacted
from kafkawire.model.scram import MAXIMUM_ITERATIONS, MINIMUM_ITERATIONS, UserMechanism, refusal_of_alteration
from kafkawire.wire.kafka_errors import KafkaError


class Mechanism(StrEnum):
    """The mechanisms, as logins and Kafka's tools write them."""

    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


UsersArgument = Annotated[list[str] | None, typer.Argument(metavar="USER...", help="Names, without User:.")]
MechanismsOption = Annotated[
    list[Mechanism] | None,
    typer.Option("--mechanism", help="A mechanism; repeatable. By default SCRAM-SHA-512."),
]
DeletedMechanismsOption = Annotated[
    list[Mechanism] | None, typer.Option("--mechanism", help="A mechanism; repeatable. By default all.")
]
IterationsOption = Annotated[
    int,
    typer.Option(min=MINIMUM_ITERATIONS, max=MAXIMUM_ITERATIONS, help="How often the password is hashed."),
]


class UserItem(Redacted, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A user of a file; options say what it does not.

    Attributes:
        user: its name.
        mechanisms: of the credentials.
        iterations: how often the password is hashed.
        password: the password, or where it is: an object with ``env``, ``file`` or ``command``.
        generate: whether a random password is made.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"password"})

    user: str
    mechanisms: tuple[Mechanism, ...] = ()
    iterations: int | None = None
    password: str | SecretReference | None = None
    generate: bool = False


class GeneratedPasswordRow(Row, frozen=True, kw_only=True):
    """A password that was generated; it is shown only here.

    Attributes:
        user: its name.
        mechanism: of the credential.
        password: the password; null if it was not set.
        status: the outcome.
        error: Kafka's name of the error.
        reason: the text of the error, or another remark.
    """

    user: str
    mechanism: str
    password: str | None
    status: Status
    error: str | None = None
    reason: str | None = None

    ROLES: ClassVar = {
        "mechanism": ColumnRole.KEY,
        "password": ColumnRole.KEY,
        "error": ColumnRole.ERROR,
        "reason": ColumnRole.ERROR,
    }


@cluster_command
def set_(
    cluster: Cluster,
    users: UsersArgument = None,
    mechanism: MechanismsOption = None,
    iterations: IterationsOption = MINIMUM_ITERATIONS,
    password_env: EnvOption = None,
    password_file: FileOption = None,
    password_command: CommandOption = None,
    generate: GenerateOption = False,
    file: FromOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Set passwords of users for SCRAM logins. A password is never a word of the command, which other users can read.

    Objects of --from have user, mechanisms, iterations and password: itself, or an object with env, file or
    command that says where it is; or generate: true. --dry-run is simulated: brokers cannot check passwords.
    """
    dry_run, yes, output = options
    source = PasswordSource(password_env, password_file, password_command, generate)
    source.check()
    items = [UserItem(user=name) for name in users or ()]
    items += given_items(file, UserItem, lambda name: {"user": name}) if file else []
    if not items:
        raise CommandError("no user is named; give names or --from FILE", ExitCode.USAGE)
    default = tuple(mechanism or (Mechanism.SCRAM_SHA_512,))
    passwords = _passwords(items, source, (file or Path()).parent)
    wanted = [
        ScramUpsertion(
            item.user,
            ScramMechanism.parse(each),
            passwords[item.user],
            iterations if item.iterations is None else item.iterations,
        )
        for item in items
        for each in dict.fromkeys(item.mechanisms or default)
    ]
    made = {item.user: passwords[item.user] for item in items if item.generate or (generate and item.password is None)}
    if not dry_run:
        confirm(cluster, f"set passwords of {_in_words(list(passwords))}", yes=yes, destructive=False)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        if dry_run:
            print_outcomes(_simulated(client, wanted, timeout), output)
            return
        with call_progress("passwords") as progress:
            results = client.alter_user_scram_credentials(wanted, timeout=timeout, progress=progress)
    rows = outcome_rows(results, "user", "set", name=item_in_words)
    if made:
        generated_rows = [_with_password(key, row, made) for key, row in zip(results, rows, strict=True)]
        print_rows(generated_rows, GeneratedPasswordRow, output)
        end_with(rows)
    else:
        print_outcomes(rows, output)


@cluster_command
def delete(
    cluster: Cluster,
    users: UsersArgument = None,
    mechanism: DeletedMechanismsOption = None,
    file: FromOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Delete SCRAM credentials of users, so that they can no longer log in with them. --dry-run is simulated."""
    dry_run, yes, output = options
    names = list(users or ())
    names += [each.user for each in given_items(file, UserItem, lambda name: {"user": name})] if file else []
    if not names:
        raise CommandError("no user is named; give names or --from FILE", ExitCode.USAGE)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        found = client.describe_user_scram_credentials(dict.fromkeys(names), timeout=timeout)
        present = {
            (user, info.mechanism): None
            for user, infos in found.values().items()
            for info in infos
            if not mechanism or mechanism_name(info.mechanism) in mechanism
        }
        errors = dict(with_suggestions(client, found, timeout).errors())
        unknown = outcome_rows(Results[str, None](errors), "user", "delete")
        gone = {user for user, _ in present}
        unknown += [
            OutcomeRow(user, "user", "delete", Status.UNCHANGED, reason="it has no such credential")
            for user in found.values()
            if user not in gone
        ]
        if dry_run:
            simulated = outcome_rows(
                Results[UserMechanism, None](present),
                "user",
                "delete",
                dry_run=True,
                name=item_in_words,
                reason=lambda _: "simulated",
            )
            print_outcomes([*simulated, *unknown], output)
            return
        if present:
            confirm(cluster, f"delete credentials of {_in_words(sorted(gone))}", yes=yes)
        deletions = [ScramDeletion(user, each) for user, each in present]
        with call_progress("credentials") as progress:
            results = client.alter_user_scram_credentials(deletions, timeout=timeout, progress=progress)
    print_outcomes([*outcome_rows(results, "user", "delete", name=item_in_words), *unknown], output)


def _passwords(items: Sequence[UserItem], source: PasswordSource, folder: Path) -> Mapping[str, str]:
    """The password of each user; a file may have it, or say where it is, from its own folder."""
    found: dict[str, str] = {}
    for item in items:
        if item.user in found:
            raise CommandError(f"{visible(item.user)} is given twice; give each user once", ExitCode.USAGE)
        if item.generate:
            found[item.user] = generated()
        elif isinstance(item.password, SecretReference):
            found[item.user] = item.password.secret(f"the password of {visible(item.user)}", folder)
        else:
            found[item.user] = source.password(item.user) if item.password is None else item.password
    return found


def _simulated(client: BlockingAdminClient, wanted: Iterable[ScramUpsertion], timeout: float) -> list[OutcomeRow]:
    """What would become of passwords: brokers' own rules, and whether there are credentials already."""
    listed = list(wanted)
    present = client.describe_user_scram_credentials(dict.fromkeys(each.user for each in listed), timeout=timeout)
    known = {(user, info.mechanism) for user, infos in present.values().items() for info in infos}
    outcomes: dict[UserMechanism, str | KafkaError] = {}
    for each in listed:
        key = (each.user, each.mechanism)
        remark = "simulated: replaces the password" if key in known else "simulated: a new credential"
        outcomes[key] = refusal_of_alteration(each) or remark
    return outcome_rows(Results(outcomes), "user", "set", dry_run=True, name=item_in_words, reason=str)


def _with_password(key: UserMechanism, row: OutcomeRow, made: Mapping[str, str]) -> GeneratedPasswordRow:
    user, mechanism = key
    return GeneratedPasswordRow(
        user=user,
        mechanism=mechanism_name(mechanism),
        password=made.get(user) if row.status is Status.DONE else None,
        status=row.status,
        error=row.error,
        reason=row.reason,
    )


def _in_words(users: Sequence[str]) -> str:
    return f"user {visible(users[0])}" if len(users) == 1 else f"{len(users)} users, the first {visible(users[0])}"
