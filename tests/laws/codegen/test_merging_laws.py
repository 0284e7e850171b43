"""Laws of merging: what both definitions say of their versions, the merged one says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, strategies as st
from tests.made.release_jars import field, message, parsed

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.importing.canonical import as_json
from kafkawire.codegen.merge.conflict import Sides
from kafkawire.codegen.merge.difference import layout_differences
from kafkawire.codegen.merge.merge import combine, merge_messages
from kafkawire.codegen.merge.namespace import namespace_of, to_message
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.codegen.versions import OPEN_END, Versions

HIGHEST = 6
numbers = st.integers(0, HIGHEST)
ranges = st.one_of(
    st.builds(Versions, numbers, st.one_of(numbers, st.just(OPEN_END))),
    st.just(Versions(0, -1)),
)


@given(ranges, st.frozensets(numbers), ranges, st.frozensets(numbers))
def test_combined_ranges_agree_with_each_where_it_counts(
    newer: Versions, at_newer: frozenset[int], older: Versions, at_older: frozenset[int]
) -> None:
    at_older -= at_newer

    found = combine(newer, at_newer, older, at_older)

    wanted = {v: v in (newer if v in at_newer else older) for v in at_newer | at_older}
    if found is not None:
        assert {v: v in found for v in wanted} == wanted
    else:
        inside = [v for v, holds in wanted.items() if holds]
        assert any(not holds for v, holds in wanted.items() if min(inside) < v < max(inside))


@st.composite
def version_texts(draw: st.DrawFn) -> str:
    lowest = draw(numbers)
    return draw(st.sampled_from([f"{lowest}+", f"{lowest}-{draw(st.integers(lowest, HIGHEST))}"]))


@st.composite
def definitions(draw: st.DrawFn) -> MessageDefinition:
    """A message of versions 0 to 6 with fields that come and go, nested and common structs among them."""
    used = draw(st.booleans())

    def fields(prefix: str, depth: int) -> list[dict[str, object]]:
        made: list[dict[str, object]] = []
        for index in range(draw(st.integers(1, 4 if depth == 0 else 2))):
            name = f"{prefix}{index}"
            versions = draw(version_texts())
            kinds = ["int32", "string", *(["struct"] if depth < 2 else []), *(["shared"] if used else [])]
            kind = draw(st.sampled_from(kinds))
            if kind == "struct":
                made.append(field(name, f"[]{name}", versions, fields=fields(name, depth + 1)))
            elif kind == "shared":
                made.append(field(name, "Shared", versions))
            elif kind == "string":
                made.append(field(name, "string", versions, nullableVersions=draw(version_texts())))
            else:
                made.append(field(name, "int32", versions, ignorable=True))
        return made

    top = fields("F", 0)
    shared = [{"name": "Shared", "versions": "0+", "fields": [field("V", "int8", draw(version_texts()))]}]
    flexible = draw(st.sampled_from(["none", "0+", "3+"]))
    return parsed(
        message("A", f"0-{HIGHEST}", top, flexibleVersions=flexible, **({"commonStructs": shared} if used else {}))
    )


def released(message_: MessageDefinition, lowest: int, highest: int) -> MessageDefinition:
    """The definition as a release has it that knows these versions only."""
    valid = Versions(lowest, highest)
    kept = _kept(message_.fields, valid)
    return replace(message_, valid_versions=valid, fields=kept)


def _kept(fields: Iterable[FieldDefinition], valid: Versions) -> tuple[FieldDefinition, ...]:
    return tuple(
        replace(f, fields=_kept(f.fields, valid)) for f in fields if f.versions.intersect(valid)
    )  # fmt: skip


@given(definitions(), numbers, numbers)
def test_two_releases_of_one_history_merge_into_it(whole: MessageDefinition, one: int, other: int) -> None:
    low, high = sorted((one, other))
    older, newer = released(whole, 0, high), released(whole, low, HIGHEST)

    merged = merge_messages(older, newer, Sides("older", "newer"))

    layouts, expected = resolve_message(merged), resolve_message(whole)
    assert layouts.by_version.keys() == expected.by_version.keys()
    for version in whole.valid_versions:
        assert layout_differences(expected.of_version(version), layouts.of_version(version)) == ()


@given(definitions())
def test_a_namespace_says_the_same_as_its_message(whole: MessageDefinition) -> None:
    assert as_json(to_message(whole, namespace_of(whole))) == as_json(whole)
