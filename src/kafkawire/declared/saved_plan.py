"""A plan in a file: JSON with a version, without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from kafkawire.declared.documents.secret_references import SecretReference
from kafkawire.declared.planned import Action, Check, Item, Kind, Plan, PlannedItem, ValueChange
from kafkawire.declared.planned_values import SecretKey
from kafkawire.declared.requests_of_plan import secret_keys
from kafkawire.model.acls.authority import Authority
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

FORMAT: Final = "kafkawire plan"
VERSION: Final = 1
LARGEST: Final = 1 << 30

_Encoded: TypeAlias = str | dict[str, str | None]


class SavedPlanError(ValueError):
    """A file is not a plan that can be carried out, or a plan cannot be saved; the message says why."""


class SavedPlan(msgspec.Struct, frozen=True):
    """A plan and what carrying it out takes.

    Attributes:
        plan: the plan.
        created: when it was made.
        secrets: where the secrets are that it needs.
        authority: what decides beside ACLs, as it was known when the plan was made.
    """

    plan: Plan
    created: datetime
    secrets: Mapping[SecretKey, SecretReference] = {}
    authority: Authority = Authority()


class _Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    kind: Kind
    item: _Encoded
    action: Action
    changes: tuple[ValueChange, ...] = ()
    reason: str = ""
    check: Check = Check.NONE
    error: str | None = None
    where: str | None = None


class _Secret(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    item: _Encoded
    reference: SecretReference
    name: str | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal["kafkawire plan"]
    version: int
    cluster_id: str | None
    created: datetime
    authority: Authority
    secrets: tuple[_Secret, ...]
    items: tuple[_Item, ...]


class _Head(msgspec.Struct, frozen=True):
    format: str = ""
    version: int = 0


def save_plan(
    plan: Plan,
    secrets: Mapping[SecretKey, SecretReference],
    created: datetime,
    authority: Authority = Authority(),  # noqa: B008 it is frozen
) -> bytes:
    """A plan as the content of a file.

    Args:
        plan: the plan.
        secrets: where the secrets of the documents are.
        created: when it was made.
        authority: what decides beside ACLs.

    Raises:
        SavedPlanError: it needs a secret of which only the value is known.
    """
    return msgspec.json.format(
        msgspec.json.encode(
            _File(
                FORMAT,
                VERSION,
                plan.cluster_id,
                created,
                authority,
                tuple(_saved_secrets(plan, secrets)),
                tuple(map(_saved_item, plan.items)),
            )
        ),
        indent=1,
    )


def is_saved_plan(content: bytes) -> bool:
    """Whether a file is a plan, and not a document."""
    return content.lstrip()[:1] == b"{" and FORMAT.encode() in content[:200]


def load_plan(content: bytes, name: str) -> SavedPlan:
    """A plan from a file.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        SavedPlanError: it is not a plan, or one of another version.
    """
    try:
        head = msgspec.json.decode(content, type=_Head)
        if head.format == FORMAT and head.version != VERSION:
            message = f"{name}: a plan of version {head.version}; this kafkawire reads version {VERSION}: make it again"
            raise SavedPlanError(message)
        file = msgspec.json.decode(content, type=_File)
        items = tuple(map(_loaded_item, file.items))
        secrets = {_loaded_key(secret): secret.reference for secret in file.secrets}
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, SavedPlanError):
            raise
        raise SavedPlanError(f"{name}: not a plan that kafkawire has saved: {error}") from None
    return SavedPlan(Plan(cluster_id=file.cluster_id, items=items), file.created, secrets, file.authority)


def _saved_secrets(plan: Plan, secrets: Mapping[SecretKey, SecretReference]) -> Iterator[_Secret]:
    for key in secret_keys(plan.items):
        reference = secrets.get(key)
        owner, name = key
        if reference is None:
            whose = owner if isinstance(owner, str) else f"{name} of {owner.name or 'all brokers'}"
            message = f"the plan needs the secret of {whose}, and files of plans hold none; name where it is"
            raise SavedPlanError(message)
        absolute = msgspec.structs.replace(reference, folder=str(Path(reference.folder).resolve()))
        if isinstance(owner, ConfigResource):
            yield _Secret(_encoded(owner), absolute, str(name))
        else:
            yield _Secret(_encoded((owner, ScramMechanism.parse(str(name)))), absolute)


def _saved_item(item: PlannedItem) -> _Item:
    return _Item(
        item.kind, _encoded(item.item), item.action, item.changes, item.reason, item.check, item.error, item.where
    )


def _loaded_item(saved: _Item) -> PlannedItem:
    return PlannedItem(
        kind=saved.kind,
        item=_decoded(saved.kind, saved.item),
        action=saved.action,
        changes=saved.changes,
        reason=saved.reason,
        check=saved.check,
        error=saved.error,
        where=saved.where,
    )


def _loaded_key(saved: _Secret) -> SecretKey:
    if saved.name is None:
        key = _decoded(Kind.USERS, saved.item)
        assert isinstance(key, tuple)  # noqa: S101 narrows the type
        return key
    resource = _decoded(Kind.CONFIGS, saved.item)
    assert isinstance(resource, ConfigResource)  # noqa: S101 narrows the type
    return resource, saved.name


def _encoded(item: Item) -> _Encoded:
    match item:
        case str():
            return item
        case ConfigResource():
            return {"resource_type": item.resource_type.name, "name": item.name}
        case AclBinding():
            return {
                name: value if isinstance(value, str) else value.name
                for name, value in zip(item.__struct_fields__, msgspec.structs.astuple(item), strict=True)
            }
        case ClientQuotaEntity():
            return dict(item)
        case (user, mechanism):
            return {"user": user, "mechanism": mechanism.name}


def _decoded(kind: Kind, item: _Encoded) -> Item:
    """An item.

    Raises:
        KeyError, TypeError, ValueError: it is malformed.
    """
    if kind is Kind.TOPICS:
        if isinstance(item, str):
            return item
        raise TypeError(f"a topic is a name, not {item!r}")
    if isinstance(item, str):
        raise TypeError(f"an item of {kind} is an object, not {item!r}")
    match kind:
        case Kind.CONFIGS:
            return ConfigResource(ConfigResourceType[_text(item, "resource_type")], _text(item, "name"))
        case Kind.ACLS:
            return AclBinding(
                ResourceType[_text(item, "resource_type")],
                _text(item, "resource_name"),
                _text(item, "principal"),
                AclOperation[_text(item, "operation")],
                AclPermissionType[_text(item, "permission_type")],
                _text(item, "host"),
                PatternType[_text(item, "pattern_type")],
            )
        case Kind.QUOTAS:
            return ClientQuotaEntity(item)
        case Kind.USERS:
            return _text(item, "user"), ScramMechanism[_text(item, "mechanism")]


def _text(item: Mapping[str, str | None], key: str) -> str:
    value = item[key]
    if value is None:
        raise TypeError(f"{key} is null")
    return value
