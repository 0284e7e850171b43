"""The rules of Kafka's own schema checker, for definitions that must pass it.

They are those of ``verify-evolution`` in release 4.3.1, including its faults. The checker stops at the first error; all
errors are reported here. Decision 0033 says why the jar is not used.
"""

from __future__ import annotations

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream.messages import message_findings, own_version_findings
from kafkawire.codegen.evolve.upstream.rules import UPSTREAM_RULES
from kafkawire.codegen.evolve.upstream.structs import StructTable
from kafkawire.codegen.evolve.upstream.unification import Unification

__all__ = ["UPSTREAM_RULES", "upstream_findings"]


def upstream_findings(older: MessageDefinition, newer: MessageDefinition) -> tuple[EvolutionFinding, ...]:
    """The errors of Kafka's checker for `newer` as a successor of `older`; none if it accepts it.

    Both are definitions that Kafka's parser accepts. The order is that of the checker, so that its own error is the
    first; errors that only follow from another are left out.
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
