"""A plan for people: kind by kind what would be done, what it means, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from kafkawire.cli.state.comparison_text import HEADINGS, Line, shown
from kafkawire.cli.visible import visible
from kafkawire.declared.effects_of_plan import PlanEffects
from kafkawire.declared.planned import Action, Check, Kind, Plan, PlannedItem, ValueChange
from kafkawire.declared.wording import HIDDEN, item_in_words
from kafkawire.model.quotas.effects import quota_effects_in_words

_MARKS: Final = {
    Action.CREATE: "+",
    Action.CHANGE: "~",
    Action.DELETE: "-",
    Action.IMPOSSIBLE: "!",
    Action.UNCHANGED: "=",
}
_STYLES: Final = {
    Action.CREATE: "green",
    Action.CHANGE: "yellow",
    Action.DELETE: "red",
    Action.IMPOSSIBLE: "bold red",
    Action.UNCHANGED: "dim",
}
_COUNTS: Final = {
    Action.CREATE: "to create",
    Action.CHANGE: "to change",
    Action.DELETE: "to delete",
    Action.IMPOSSIBLE: "impossible",
    Action.UNCHANGED: "unchanged",
}
_SENTENCES: Final = 50
_ORDER: Final = list(Kind)


def plan_lines(plan: Plan, effects: PlanEffects, *, with_unchanged: bool) -> Iterator[Line]:
    """The lines of a plan.

    Args:
        plan: the plan.
        effects: what it means.
        with_unchanged: whether unchanged items are listed; they are counted in any case.
    """
    listed = [item for item in plan.items if with_unchanged or item.action is not Action.UNCHANGED]
    listed.sort(key=lambda item: _ORDER.index(item.kind))
    for kind, items in groupby(listed, key=lambda item: item.kind):
        yield Line(HEADINGS[kind], "bold")
        for item in items:
            yield from _item_lines(item)
        yield Line("")
    yield from access_lines(effects, most=_SENTENCES)
    yield from quota_lines(effects, most=_SENTENCES)
    yield Line(_counts(plan), "bold")
    checks = _checks(plan)
    if checks:
        yield Line(checks, indent=2)


def access_lines(effects: PlanEffects, *, most: int | None = None) -> Iterator[Line]:
    """The lines of who gains and who loses what; ``most`` of them."""
    return _effect_lines("What this means for access", effects.access.sentences(), most)


def quota_lines(effects: PlanEffects, *, most: int | None = None) -> Iterator[Line]:
    """The lines of whose limits change; ``most`` of them."""
    return _effect_lines("What this means for quotas", quota_effects_in_words(effects.quotas), most)


def _counts(plan: Plan) -> str:
    """How many items of each action a plan has."""
    found = Counter(item.action for item in plan.items)
    errors = sum(item.error is not None for item in plan.items)
    refused = f"; {errors} would fail" if errors else ""
    return ", ".join(f"{found[action]} {word}" for action, word in _COUNTS.items()) + refused


def _item_lines(item: PlannedItem) -> Iterator[Line]:
    words = visible(item_in_words(item.item))
    why = f" ({item.reason})" if item.action in {Action.DELETE, Action.UNCHANGED} and item.reason else ""
    yield Line(f"  {_MARKS[item.action]} {item.action} {words}{why}", _STYLES[item.action], indent=4)
    for change in item.changes:
        if change.before != change.after or change.after == HIDDEN:
            yield Line(f"      {visible(change.name)}: {_values(item.action, change)}", indent=8)
    if item.action is Action.IMPOSSIBLE:
        yield Line(f"      {visible(item.reason)}", indent=8)
    if item.error is not None:
        yield Line(f"      fails: {visible(item.error)}", "red", indent=8)
    if item.where is not None and (item.error is not None or item.action is Action.IMPOSSIBLE):
        yield Line(f"      declared at {visible(item.where)}", indent=8)


def _values(action: Action, change: ValueChange) -> str:
    match action:
        case Action.CREATE if change.before is None:
            return shown(change.after)
        case Action.DELETE:
            return shown(change.before)
        case _ if change.before == change.after == HIDDEN:
            return "set again"
        case _:
            return f"{shown(change.before)} → {shown(change.after)}"


def _effect_lines(heading: str, sentences: Sequence[str], most: int | None) -> Iterator[Line]:
    if not sentences:
        return
    yield Line(heading, "bold")
    for sentence in sentences[:most]:
        yield Line(f"  {visible(sentence)}", indent=4)
    if most is not None and len(sentences) > most:
        yield Line(f"  and {len(sentences) - most} more")
    yield Line("")


def _checks(plan: Plan) -> str:
    """Who has checked how many of the items that would be carried out."""
    done = {Action.CREATE, Action.CHANGE, Action.DELETE}
    found = Counter((item.check, item.kind) for item in plan.items if item.action in done)
    parts = []
    for check in Check:
        of_check = {kind: found[check, kind] for kind in Kind if found[check, kind]}
        if of_check:
            kinds = ", ".join(
                f"{count} {str(kind).removesuffix('s') if count == 1 else kind}" for kind, count in of_check.items()
            )
            parts.append(f"{check}: {kinds}")
    return "; ".join(parts)
