"""What is said of two layouts holds for the bytes that both sides' codecs write and read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.generated_packages import make_package
from tests.laws.codegen.evolution.definition_pairs import definition_pair
from tests.laws.codegen.evolution.peers import GeneratedPeer, Outcome, Peer, Trial, trials
from tests.release_jars import parsed

from kafkawire.codegen.evolution.readability import Reading, byte_compatibility
from kafkawire.codegen.resolve import resolve_message
from kafkawire.layout import MessageLayouts

PLENTY = 60
"""Values that are tried where all must come out alike."""
SEARCHED = 1500
"""Values among which there must be some that come out right and some that come out wrong."""
BATCH = 40
"""Pairs of messages that are generated at once."""

_package_numbers = itertools.count()


def check(reading: Reading, writer: Peer, reader: Peer, rng: random.Random) -> None:
    """Hold a statement against values that really are written and read."""
    match reading.verdict:
        case "compatible":
            for trial in trials(writer, reader, rng, PLENTY):
                assert trial.outcome != "wrong", _told(reading, trial)
        case "conditional":
            found = _outcomes(writer, reader, rng)
            assert "right" in found, reading
            assert "wrong" in found or "unreadable" in found, reading
        case "incompatible":
            tried = [trial for trial in trials(writer, reader, rng, PLENTY) if trial.outcome != "unreadable"]
            assert not tried or any(trial.outcome == "wrong" for trial in tried), reading
            if isinstance(writer, GeneratedPeer) and isinstance(reader, GeneratedPeer):
                for trial in tried:
                    assert trial.outcome == "wrong" or _is_coincidence(trial, writer, reader), _told(reading, trial)


def _outcomes(writer: Peer, reader: Peer, rng: random.Random) -> set[Outcome]:
    """What becomes of values, until some came out right and others wrong."""
    found: set[Outcome] = set()
    for trial in trials(writer, reader, rng, SEARCHED):
        found.add(trial.outcome)
        if {"right", "wrong"} <= found:
            break
    return found


def _is_coincidence(trial: Trial, writer: GeneratedPeer, reader: GeneratedPeer) -> bool:
    """Whether the reader took other bytes for its values than the writer had put there."""
    return writer.cuts(trial.octets) != reader.cuts(trial.octets)


def _told(reading: Reading, trial: Trial) -> str:
    return f"{reading}: {trial.value} as {trial.octets.hex()}"


def _both_ways(older: MessageLayouts, newer: MessageLayouts) -> Iterator[tuple[int, Reading, Reading]]:
    for compared in byte_compatibility(older, newer):
        yield compared.version, compared.old_to_new, compared.new_to_old


@given(st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_verdicts_hold_for_the_reference_codec(choices: random.Random, seed: int) -> None:
    older, newer = (resolve_message(parsed(dict(made))) for made in definition_pair(choices, "M"))
    for version, old_to_new, new_to_old in _both_ways(older, newer):
        old, new = Peer(older.of_version(version)), Peer(newer.of_version(version))
        check(old_to_new, old, new, random.Random(seed))
        check(new_to_old, new, old, random.Random(seed))


# Of a whole batch hypothesis would shrink for long; single pairs shrink above.
@settings(max_examples=3, phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_verdicts_hold_for_the_generated_codecs(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = random.Random(seed)
    pairs = [definition_pair(rng, f"Message{number}") for number in range(BATCH)]
    old, new = (
        make_package(tmp_path_factory.mktemp("peers"), f"readability_{side}_{next(_package_numbers)}", *made)
        for side, made in zip(("old", "new"), zip(*pairs, strict=True), strict=True)
    )
    for name in old.MESSAGE_NAMES:
        classes = old.message_class(name), new.message_class(name)
        for version, old_to_new, new_to_old in _both_ways(*(cls.layouts() for cls in classes)):
            older, newer = (GeneratedPeer(cls, version) for cls in classes)
            check(old_to_new, older, newer, rng)
            check(new_to_old, newer, older, rng)
