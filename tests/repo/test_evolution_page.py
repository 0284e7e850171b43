"""The page about checking evolution has every rule, and every rule of the reference is accounted for."""

from __future__ import annotations

from pathlib import Path

from kafkawire.codegen.evolve.rules.catalogue import EVOLUTION_RULES
from kafkawire.codegen.evolve.rules.rule import EvolutionRule

BEGIN, END = (
    "<!-- rules: made from the catalogue, see tests/repo/test_evolution_page.py -->\n",
    "<!-- end of rules -->\n",
)

OF_THE_REFERENCE = (
    "conv-released-frozen", "conv-add-field", "conv-add-tagged", "conv-remove-field", "conv-remove-tagged",
    "conv-order", "conv-type", "conv-default", "conv-nullable", "conv-flexible", "conv-semantics", "conv-pair",
    "conv-lowest", "conv-unstable", "conv-retire", "conv-new-message", "conv-ignorable", "conv-records",
    "evo-api-key", "evo-type", "evo-flexible-shrinks", "evo-max-version-lower", "evo-min-version-lower",
    "evo-field-never-valid", "evo-nullable-never-valid", "evo-tagged-never-valid", "evo-override-never-valid",
    "evo-type-differs", "evo-max-effective-lower", "evo-min-effective-differs", "evo-max-nullable-lower",
    "evo-min-nullable-differs", "evo-field-flexible-shrinks", "evo-default-differs", "evo-tagged-outside-flexible",
    "evo-struct-unknown", "evo-pair-old-misplaced", "evo-pair-new-misplaced", "evo-pair-missing-new",
    "evo-pair-missing-old",
)  # fmt: skip


def row(rule: EvolutionRule) -> str:
    covers = f" ({', '.join(f'`{other}`' for other in rule.covers)})" if rule.covers else ""
    return f"| `{rule.id}`{covers} | {', '.join(rule.severities)} | {rule.purpose} | {rule.why} |\n"


def table() -> str:
    rules = sorted(EVOLUTION_RULES.values(), key=lambda rule: rule.id)
    head = "| rule | severity | what must hold | what happens otherwise |\n| --- | --- | --- | --- |\n"
    return f"\n{head}{''.join(map(row, rules))}\n"


def page(root: Path) -> str:
    return (root / "docs" / "how-to" / "check-evolution.md").read_text("utf-8")


def test_the_page_has_every_rule(root: Path) -> None:
    _, _, rest = page(root).partition(BEGIN)
    shown, _, _ = rest.partition(END)
    assert shown == table()


def test_every_rule_of_the_reference_is_accounted_for(root: Path) -> None:
    assert [rule for rule in OF_THE_REFERENCE if f"`{rule}`" not in page(root)] == []
