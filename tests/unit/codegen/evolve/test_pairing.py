"""What has become of messages, structs and fields: by name, by key or tag, by place."""

from __future__ import annotations

from collections.abc import Iterable

from tests.made.release_jars import Json, field, message, parsed

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.pairing import MessagePair, pair_messages, pair_structs
from kafkawire.codegen.evolve.side import Side


def side(*messages: MessageDefinition, is_single_file: bool = False) -> Side:
    return Side("side", {m.name: m for m in messages}, {}, {}, is_single_file=is_single_file)


def names(pairs: Iterable[MessagePair]) -> list[tuple[str | None, str | None]]:
    return [(p.older.name if p.older else None, p.newer.name if p.newer else None) for p in pairs]


def fields_of(older: Iterable[Json], newer: Iterable[Json], valid: str = "0-2") -> list[tuple[str | None, str | None]]:
    pairs = pair_structs(parsed(message("A", valid, older)), parsed(message("A", valid, newer)))
    fields = [f for pair in pairs for f in pair.fields]
    return [(f.older.name if f.older else None, f.newer.name if f.newer else None) for f in fields]


def request(name: str, key: int, **more: object) -> MessageDefinition:
    return parsed(message(name, "0", [], type="request", apiKey=key, **more))


def test_messages_are_paired_by_name_whatever_their_keys() -> None:
    older, newer = side(request("PingRequest", 1)), side(request("PingRequest", 2), request("PongRequest", 1))
    assert names(pair_messages(older, newer)) == [("PingRequest", "PingRequest"), (None, "PongRequest")]


def test_a_renamed_message_is_found_by_its_key() -> None:
    older, newer = side(request("PingRequest", 1)), side(request("EchoRequest", 1))
    (pair,) = pair_messages(older, newer)
    assert (pair.name, names([pair])) == ("EchoRequest", [("PingRequest", "EchoRequest")])


def test_a_key_of_another_type_makes_no_pair() -> None:
    response = parsed(message("PongResponse", "0", [], type="response", apiKey=1))
    assert names(pair_messages(side(request("PingRequest", 1)), side(response))) == [
        ("PingRequest", None), (None, "PongResponse"),
    ]  # fmt: skip


def test_each_family_of_records_counts_its_own_keys() -> None:
    older = parsed(message("OneValue", "0", [], type="coordinator-value", apiKey=1), "groups")
    newer = parsed(message("TwoValue", "0", [], type="coordinator-value", apiKey=1), "shares")
    assert names(pair_messages(side(older), side(newer))) == [("OneValue", None), (None, "TwoValue")]


def test_messages_without_key_are_never_renamed() -> None:
    older, newer = side(parsed(message("One", "0", []))), side(parsed(message("Two", "0", [])))
    assert names(pair_messages(older, newer)) == [("One", None), (None, "Two")]


def test_nothing_is_said_of_what_a_single_file_lacks() -> None:
    one, two, three = (parsed(message(name, "0", [])) for name in ("One", "Two", "Three"))
    assert names(pair_messages(side(one, is_single_file=True), side(one, two))) == [("One", "One")]
    assert names(pair_messages(side(one, two), side(two, is_single_file=True))) == [("Two", "Two")]
    assert names(pair_messages(side(one, is_single_file=True), side(three, is_single_file=True))) == []


def coordinator_records(group: str = "groups") -> tuple[Side, Side]:
    """Keys of record types 0 and 1, and the value of 1, as older and as newer releases write them."""
    key = parsed(message("OffsetKey", "0-1", [field("Group", "string", "0-1")]), group)
    value = parsed(message("OffsetValue", "0-2", [field("Offset", "int64", "0+")]), group)
    newer = [
        parsed(message(name, "0", [field("Group", "string", "0+")], type="coordinator-key", apiKey=type_), group)
        for name, type_ in (("LegacyOffsetKey", 0), ("OffsetKey", 1))
    ]
    newer_value = message("OffsetValue", "0-2", [field("Offset", "int64", "0+")], type="coordinator-value", apiKey=1)
    return side(key, value), side(*newer, parsed(newer_value, group))


def test_coordinator_records_of_the_older_form_are_compared_in_the_newer_one() -> None:
    older, newer = coordinator_records()
    pairs = pair_messages(older, newer)
    assert names(pairs) == [(name, name) for name in ("LegacyOffsetKey", "OffsetKey", "OffsetValue")]
    for pair in pairs:
        assert pair.older is not None
        assert pair.newer is not None
        assert (pair.older.type, pair.older.api_key, pair.older.fields) == (
            pair.newer.type, pair.newer.api_key, pair.newer.fields,
        )  # fmt: skip
        assert pair.older_source is not None
        assert pair.older_source.type == "data"
        assert pair.newer_source is pair.newer


def test_it_does_not_matter_which_side_has_the_older_form() -> None:
    older, newer = coordinator_records()
    turned = [(pair.newer, pair.older) for pair in pair_messages(newer, older)]
    assert turned == [(pair.older, pair.newer) for pair in pair_messages(older, newer)]


def test_fields_are_paired_by_name_wherever_they_stand() -> None:
    older = [field("A", "int32", "0+"), field("B", "int32", "0+")]
    assert fields_of(older, older[::-1]) == [("A", "A"), ("B", "B")]


def test_a_renamed_tagged_field_is_found_by_its_tag() -> None:
    tagged = {"tag": 0, "taggedVersions": "0+"}
    older = [field("Old", "int32", "0+", **tagged)]
    newer = [field("First", "int32", "0+", tag=1, taggedVersions="0+"), field("New", "string", "0+", **tagged)]
    assert fields_of(older, newer) == [("Old", "New"), (None, "First")]


def test_a_renamed_field_is_found_by_its_place() -> None:
    older = [field("A", "int32", "0+"), field("Old", "int32", "0+"), field("B", "int32", "0+")]
    newer = [field("A", "int32", "0+"), field("New", "int32", "0+"), field("B", "int32", "0+")]
    assert fields_of(older, newer) == [("A", "A"), ("Old", "New"), ("B", "B")]


def test_another_type_at_the_place_is_another_field() -> None:
    older, newer = [field("Old", "int32", "0+")], [field("New", "int64", "0+")]
    assert fields_of(older, newer) == [("Old", None), (None, "New")]


def versions_of(older: Iterable[Json], newer: Iterable[Json], valid: str) -> list[tuple[str, str, list[int]]]:
    (pair,) = pair_structs(parsed(message("A", valid, older)), parsed(message("A", valid, newer)))
    both = [(one.older, one.newer, one) for one in pair.fields]
    return [(o.name, n.name, [v for v in sorted(pair.shared) if p.holds_in(v)]) for o, n, p in both if o and n]


def test_a_field_may_be_another_one_in_each_version() -> None:
    older = [field("Old", "int32", "0+")]
    newer = [field("First", "int32", "0"), field("Then", "int32", "1+")]
    assert versions_of(older, newer, "0-2") == [("Old", "Then", [1, 2]), ("Old", "First", [0])]


def test_a_name_that_passes_to_another_field_names_that_from_then_on() -> None:
    older = [field("Lag", "int32", "0+"), field("Last", "int8", "0+")]
    newer = [field("Legacy", "int32", "0"), field("Last", "int8", "0+"), field("Lag", "int64", "1+")]
    assert versions_of(older, newer, "0") == [("Lag", "Legacy", [0]), ("Last", "Last", [0])]
    again = [field("Legacy", "int32", "0"), field("Lag", "int32", "1+"), field("Last", "int8", "0+")]
    assert versions_of(older, again, "0-1") == [("Lag", "Lag", [1]), ("Lag", "Legacy", [0]), ("Last", "Last", [0, 1])]


def test_names_that_never_meet_are_one_field_where_nothing_else_is() -> None:
    older, newer = [field("A", "int32", "0")], [field("A", "int32", "1+")]
    assert fields_of(older, newer, "0-1") == [("A", "A")]


def test_where_the_number_of_fields_changed_places_say_nothing() -> None:
    older = [field("Old", "int32", "0+")]
    newer = [field("New", "int32", "0+"), field("More", "int32", "0+")]
    assert fields_of(older, newer) == [("Old", None), (None, "New"), (None, "More")]


def test_structs_are_paired_by_their_fields_not_their_names() -> None:
    inner = [field("Id", "int32", "0+")]
    older = parsed(message("A", "0", [field("Items", "[]Item", "0+", fields=inner)]))
    newer = parsed(message("A", "0", [field("Items", "[]Thing", "0+", fields=inner)]))
    assert [(pair.path, pair.older, pair.newer) for pair in pair_structs(older, newer)] == [
        ("", "", ""), ("Items", "Item", "Thing"),
    ]  # fmt: skip


def test_a_common_struct_is_compared_once_and_with_an_inline_one() -> None:
    inner = [field("Id", "int32", "0+")]
    inline = [field("One", "Item", "0", fields=inner)]
    both = [field("One", "Item", "0"), field("Two", "[]Item", "1+")]
    older = parsed(message("A", "0-1", inline))
    newer = parsed(message("A", "0-1", both, commonStructs=[{"name": "Item", "versions": "0+", "fields": inner}]))
    _, item = pair_structs(older, newer)
    assert (item.path, item.older, item.newer) == ("One", "Item", "Item")
    assert (item.older_versions, item.newer_versions) == (frozenset({0}), frozenset({0, 1}))
