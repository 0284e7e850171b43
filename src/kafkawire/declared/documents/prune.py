"""``prune``: what may be deleted if no document declares it."""

from __future__ import annotations

from typing import Final

from kafkawire.declared.documents.acls import check_principal
from kafkawire.declared.documents.declared import ALL, PruneScope
from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Table
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.planned import Kind

KEYS: Final = ("kinds", "topic_prefix", "principal")
KINDS: Final = tuple(kind.value for kind in Kind)
_KINDS_OF_PRINCIPALS: Final = frozenset({Kind.ACLS, Kind.QUOTAS, Kind.USERS})


def read_prune(node: Node, reading: Reading) -> None:
    """Read the scope of a document. The kinds need what limits them: a scope is never wider than written."""
    if isinstance(node, Scalar) and node.is_null:
        return
    before = reading.errors
    given = reading.known(node, "prune", KEYS)
    if not isinstance(node, Table):
        return
    kinds: frozenset[Kind] = frozenset()
    if "kinds" in given:
        words = [reading.word(each, "kinds", KINDS) for each in reading.items(given["kinds"])]
        kinds = frozenset(Kind(word) for word in words if word in KINDS)
    else:
        reading.error(node, Rule.STRUCTURE, "prune: no kinds", f"write kinds: [{', '.join(KINDS)}] or some of them")
    prefixes = reading.names(given["topic_prefix"], "topic_prefix") if "topic_prefix" in given else []
    principals = []
    for each in reading.items(given["principal"]) if "principal" in given else []:
        name = reading.name(each, "principal")
        if name is not None and (name == ALL or check_principal(each, name, reading)):
            principals.append(name)
    if Kind.TOPICS in kinds and not prefixes:
        remedy = 'write topic_prefix: NAME, or "*" for all topics'
        reading.error(node, Rule.VALUE, "prune: topics have no prefix", remedy)
    if kinds & _KINDS_OF_PRINCIPALS and not principals:
        remedy = 'write principal: User:NAME, or "*" for all'
        reading.error(node, Rule.VALUE, "prune: ACLs, quotas and users have no principal", remedy)
    if reading.errors == before:
        reading.prune.append(PruneScope(kinds=kinds, topic_prefixes=tuple(prefixes), principals=frozenset(principals)))
