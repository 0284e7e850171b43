"""Statements about two layouts, compared with values that are written and read."""

from __future__ import annotations

import random

from tests.laws.codegen.evolve.peers import GeneratedPeer, Outcome, Peer, Trial, trials

from kafkawire.codegen.evolve.readability import Reading

PLENTY = 60
"""Values that are tried where all must come out alike."""
SEARCHED = 1500
"""Values among which there must be some that come out right and some that come out wrong."""


def hold(reading: Reading, writer: Peer, reader: Peer, rng: random.Random) -> None:
    """Hold a statement against values that really are written and read."""
    match reading.verdict:
        case "compatible":
            for trial in trials(writer, reader, rng, PLENTY):
                assert trial.outcome != "wrong", _explained(reading, trial)
        case "conditional":
            found = _outcomes(writer, reader, rng)
            assert "right" in found, reading
            assert "wrong" in found or "unreadable" in found, reading
        case "incompatible":
            tried = list(trials(writer, reader, rng, PLENTY))
            assert not tried or any(trial.outcome != "right" for trial in tried), reading
            if isinstance(writer, GeneratedPeer) and isinstance(reader, GeneratedPeer):
                for trial in tried:
                    assert trial.outcome != "right" or _is_coincidence(trial, writer, reader), _explained(
                        reading, trial
                    )


def _outcomes(writer: Peer, reader: Peer, rng: random.Random) -> set[Outcome]:
    """How values are read, until some were read correctly and others not."""
    found: set[Outcome] = set()
    for trial in trials(writer, reader, rng, SEARCHED):
        found.add(trial.outcome)
        if {"right", "wrong"} <= found:
            break
    return found


def _is_coincidence(trial: Trial, writer: GeneratedPeer, reader: GeneratedPeer) -> bool:
    """Whether the reader took other bytes for its values than the writer had put there."""
    return writer.cuts(trial.octets) != reader.cuts(trial.octets)


def _explained(reading: Reading, trial: Trial) -> str:
    return f"{reading}: {trial.value} as {trial.octets.hex()}"
