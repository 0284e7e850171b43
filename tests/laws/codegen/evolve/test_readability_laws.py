"""What is said of two layouts holds for the bytes that both sides' codecs write and read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.laws.codegen.evolve.definition_pairs import definition_pair
from tests.laws.codegen.evolve.peers import GeneratedPeer, Peer
from tests.laws.codegen.evolve.statements import hold
from tests.made.packages import make_package
from tests.made.release_jars import parsed

from kafkawire.codegen.evolve.readability import Reading, byte_compatibility
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import MessageLayouts

BATCH = 40
"""Pairs of messages that are generated at once."""

_package_numbers = itertools.count()


def _both_ways(older: MessageLayouts, newer: MessageLayouts) -> Iterator[tuple[int, Reading, Reading]]:
    for compared in byte_compatibility(older, newer):
        yield compared.version, compared.old_to_new, compared.new_to_old


@given(st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_verdicts_hold_for_the_reference_codec(choices: random.Random, seed: int) -> None:
    older, newer = (resolve_message(parsed(dict(made))) for made in definition_pair(choices, "M"))
    for version, old_to_new, new_to_old in _both_ways(older, newer):
        old, new = Peer(older.of_version(version)), Peer(newer.of_version(version))
        hold(old_to_new, old, new, random.Random(seed))
        hold(new_to_old, new, old, random.Random(seed))


# Of a whole batch hypothesis would shrink for long; single pairs shrink above.
@settings(max_examples=scaled(3), phases=[Phase.generate])
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
            hold(old_to_new, older, newer, rng)
            hold(new_to_old, newer, older, rng)
