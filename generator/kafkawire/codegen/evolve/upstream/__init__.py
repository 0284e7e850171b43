"""Kafka's own schema checker as it is, for definitions that must pass it.

The rules are those of ``verify-evolution`` in release 4.3.1, oddities included. Where the
checker stops at the first error, all are told.
"""

from __future__ import annotations

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream.catalogue import UPSTREAM_RULES
from kafkawire.codegen.evolve.upstream.messages import message_findings
from kafkawire.codegen.evolve.upstream.own_versions import own_version_findings
from kafkawire.codegen.evolve.upstream.structs import StructTable
from kafkawire.codegen.evolve.upstream.unification import Unification

__all__ = ["UPSTREAM_RULES", "upstream_findings"]


def upstream_findings(older: MessageDefinition, newer: MessageDefinition) -> tuple[EvolutionFinding, ...]:
    """Why Kafka's checker refuses `newer` as a successor of `older`; nothing if it accepts it.

    Both are definitions that break no rule of the parser. The order is that of the checker, so
    its own error is that of the first; what only follows from another finding is left out.
    """
    tables = StructTable(older), StructTable(newer)
    findings = (
        *message_findings(older, newer),
        *own_version_findings(older),
        *own_version_findings(newer),
        *tables[0].findings,
        *tables[1].findings,
        *Unification(older, newer, *tables).findings(),
    )
    return tuple(dict.fromkeys(findings))
