"""``kafkawire acls review`` and ``minimise``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, ClassVar

import msgspec
import typer

from kafkawire.admin import minimise_acls, review_acls
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.acls.acl_row import AclRow
from kafkawire.cli.acls.authority import AuthorityOptions, authority
from kafkawire.cli.acls.selecting import PANEL
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words
from kafkawire.model.acls.review import FindingKind

KindsOption = Annotated[
    list[FindingKind] | None,
    typer.Option("--kind", help="Only findings of this kind; repeatable.", case_sensitive=False, rich_help_panel=PANEL),
]
ScramOption = Annotated[
    bool,
    typer.Option(
        "--users-are-scram",
        help="Every principal is a user with a SCRAM credential: ACLs of others are detached.",
        rich_help_panel=PANEL,
    ),
]
KeepDenialsOption = Annotated[
    bool,
    typer.Option("--keep-denials", help="Keep ACLs that deny what no ACL allows today.", rich_help_panel=PANEL),
]
MergeOption = Annotated[
    bool,
    typer.Option("--merge", help="Put ALL in place of ACLs that name every operation.", rich_help_panel=PANEL),
]


class Part(StrEnum):
    """Which ACLs ``minimise`` prints."""

    REMOVED = "removed"
    ADDED = "added"
    KEPT = "kept"


ShowOption = Annotated[
    Part,
    typer.Option(
        "--show", help="Which ACLs: those to delete, those to create first, or all after it.", rich_help_panel=PANEL
    ),
]


class FindingRow(AclRow, frozen=True, kw_only=True):
    """A finding about an ACL.

    Attributes:
        principal, permission, operation, resource_type, resource_name, pattern_type, host: the ACL, as in a list.
        finding: redundant, shadowed, idle, without effect or detached.
        finding_reason: why.
        causes: the ACLs that make it so, in words.
        remaining: operations that the ACL still allows.
    """

    finding: str
    finding_reason: str
    causes: tuple[str, ...]
    remaining: tuple[str, ...]

    ROLES: ClassVar = {
        **AclRow.ROLES,
        "finding": ColumnRole.KEY,
        "causes": ColumnRole.DETAIL,
        "remaining": ColumnRole.DETAIL,
    }


@cluster_command
def review(
    cluster: Cluster,
    kind: KindsOption = None,
    users_are_scram: ScramOption = False,
    *,
    given: AuthorityOptions,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Find ACLs that other ACLs cover, that a denial makes useless, or whose topic, group or user does not exist."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        acls = client.describe_acls(timeout=timeout).union()
        topics = client.list_topics(include_internal=True, timeout=timeout)
        groups = client.list_groups(timeout=timeout)
        users = client.describe_user_scram_credentials(timeout=timeout) if users_are_scram else None
        deciding = authority(client, given, (), timeout)
    findings = review_acls(
        acls,
        topics=frozenset(topics),
        groups={group.group_id for group in groups.values()},
        users=None if users is None else {f"User:{name}" for name in users.values()},
        super_users=deciding.super_users,
        allow_everyone_if_no_acl=deciding.allow_everyone_if_no_acl,
    )
    rows = [
        FindingRow(
            *msgspec.structs.astuple(AclRow.of(finding.acl)),
            finding=finding.kind.value,
            finding_reason=finding.reason,
            causes=tuple(map(item_in_words, finding.causes)),
            remaining=tuple(map(str, finding.remaining)),
        )
        for finding in findings
        if not kind or finding.kind in kind
    ]
    print_rows(rows, FindingRow, output, empty="no findings")


@cluster_command
def minimise(
    cluster: Cluster,
    show: ShowOption = Part.REMOVED,
    keep_denials: KeepDenialsOption = False,
    merge: MergeOption = False,
    *,
    given: AuthorityOptions,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Propose the fewest of the ACLs that decide as all of them, proven equal. It changes nothing.

    The ACLs that are not needed go to acls delete --from FILE, those that --merge adds to acls create before.
    """
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        acls = client.describe_acls(timeout=timeout).union()
        deciding = authority(client, given, (), timeout)
    smallest = minimise_acls(
        acls,
        keep_denials=keep_denials,
        merge=merge,
        super_users=deciding.super_users,
        allow_everyone_if_no_acl=deciding.allow_everyone_if_no_acl,
    )
    certain = "" if smallest.is_smallest else "; a smaller choice may exist"
    print(f"{len(smallest.acls)} ACLs decide as the {len(acls)} do, which is proven{certain}", file=sys.stderr)
    if smallest.added and show is not Part.ADDED:
        print(f"{len(smallest.added)} of them are new; see --show added", file=sys.stderr)
    chosen = {Part.REMOVED: smallest.removed, Part.ADDED: smallest.added, Part.KEPT: smallest.acls}[show]
    print_rows(map(AclRow.of, chosen), AclRow, output, empty="none")
