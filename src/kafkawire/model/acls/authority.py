"""What decides beside ACLs."""

from __future__ import annotations

import msgspec


class Authority(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What decides beside ACLs.

    Attributes:
        super_users: principals that may do everything.
        allow_everyone_if_no_acl: whether everyone may do everything on resources without ACLs.
        ranges: whether the host of an ACL may be a range of addresses; else a range matches no client (A23).
    """

    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl: bool = False
    ranges: bool = True
