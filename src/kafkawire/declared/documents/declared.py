"""What documents declare: a state, where each item is declared, what may be deleted, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from kafkawire.declared.documents.problems import Position, Problem
from kafkawire.declared.documents.secret_references import SecretReference, UnavailableSecretError
from kafkawire.declared.planned import Item, Kind
from kafkawire.declared.state import ClusterState
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import USER, ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism, UserMechanism

ALL: Final = "*"
"""In a scope: all topics, or all principals."""

SecretKey: TypeAlias = UserMechanism | tuple[ConfigResource, str]
"""Whose secret: a credential, or a config of a resource."""


class PruneScope(msgspec.Struct, frozen=True, kw_only=True):
    """What may be deleted if no document declares it.

    Attributes:
        kinds: the kinds.
        topic_prefixes: topics whose names begin so; ``*`` for all topics.
        principals: ``User:alice``: the ACLs of these principals, and the quotas and credentials of these users; ``*``
            for those of all.
    """

    kinds: frozenset[Kind]
    topic_prefixes: tuple[str, ...] = ()
    principals: frozenset[str] = frozenset()

    def contains(self, kind: Kind, item: Item) -> bool:
        """Whether an item may be deleted."""
        if kind not in self.kinds:
            return False
        match item:
            case str():
                return ALL in self.topic_prefixes or item.startswith(self.topic_prefixes)
            case ConfigResource():
                return True
            case AclBinding():
                return self._has(item.principal)
            case ClientQuotaEntity():
                user = item.get(USER)
                return ALL in self.principals or (user is not None and self._has(f"User:{user}"))
            case (user, _):
                return self._has(f"User:{user}")

    def _has(self, principal: str) -> bool:
        return ALL in self.principals or principal in self.principals


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What documents declare.

    Attributes:
        state: the declared state. Secrets are None in it; see `state_with_secrets`.
        positions: the place of each item, by kind.
        prune: what may be deleted; an item may be if one of the scopes contains it.
        secrets: where the secrets of credentials and configs are.
        problems: mistakes and warnings, in the order of files and places.
        sources: the texts of the files by name, for the lines that problems show. Not in ``repr``.
    """

    state: ClusterState = ClusterState()
    positions: Mapping[Kind, Mapping[Item, Position]] = {}
    prune: tuple[PruneScope, ...] = ()
    secrets: Mapping[SecretKey, SecretReference] = {}
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"<Declared with {len(self.problems)} problems>"

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems without the warnings. With errors the state lacks the items that have them."""
        return tuple(each for each in self.problems if not each.is_warning)

    def position(self, kind: Kind, item: Item) -> Position | None:
        """Where an item is declared."""
        return self.positions.get(kind, {}).get(item)

    def may_delete(self, kind: Kind, item: Item) -> bool:
        """Whether an item that is not declared is in the scope of ``--prune``."""
        return any(scope.contains(kind, item) for scope in self.prune)

    def secret(self, key: SecretKey) -> str | None:
        """A secret, had from where the document says it is; None if the document names none.

        A config that Kafka does not have may be a secret of a plug-in. If the document holds its value, that is it.

        Args:
            key: user and mechanism, or resource and name of a config.

        Raises:
            UnavailableSecretError: it cannot be had.
        """
        reference = self.secrets.get(key)
        if reference is None:
            resource, name = key
            return self.state.configs.get(resource, {}).get(str(name)) if isinstance(resource, ConfigResource) else None
        try:
            return reference.read()
        except UnavailableSecretError as error:
            whose, name = key
            owner = whose if isinstance(whose, str) else f"{whose.resource_type.name.lower()} {whose.name}".strip()
            raise UnavailableSecretError(f"{owner}, {str(name).replace('SCRAM_SHA_', 'SCRAM-SHA-')}: {error}") from None

    def state_with_secrets(self) -> ClusterState:
        """The declared state with all its secrets, each had from where its document says it is.

        Raises:
            UnavailableSecretError: one cannot be had.
        """
        credentials = dict(self.state.credentials)
        configs = {resource: dict(values) for resource, values in self.state.configs.items()}
        for key in self.secrets:
            owner, name = key
            if isinstance(owner, ConfigResource):
                configs[owner][str(name)] = self.secret(key)
            elif isinstance(name, ScramMechanism):
                credential = credentials[owner, name]
                credentials[owner, name] = msgspec.structs.replace(credential, password=self.secret(key))
        return msgspec.structs.replace(self.state, credentials=credentials, configs=configs)
