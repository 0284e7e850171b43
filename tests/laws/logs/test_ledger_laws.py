"""Many changes of a ledger at once are those changes one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, strategies as st

from kafkawire.logs.folding.intervals import Ledger
from kafkawire.logs.folding.journaled_ledger import JournaledLedger

_Change = tuple[str, tuple[int] | None]

_CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.tuples(st.integers(0, 2))), max_size=12)


def _plain() -> Ledger[str]:
    return Ledger()


def _replacing() -> Ledger[str]:
    return Ledger(renews=False)


def _with_absent() -> Ledger[str]:
    return Ledger(absent=(0,))


def _journaled() -> Ledger[str]:
    return JournaledLedger[str]()


@pytest.mark.parametrize("make", [_plain, _replacing, _with_absent, _journaled])
@given(changes=_CHANGES, cut=st.integers(0, 12), complete=st.booleans())
def test_changes_at_once_are_changes_one_after_the_other(
    make: Callable[[], Ledger[str]], changes: Sequence[_Change], cut: int, complete: bool
) -> None:
    at_once, one_by_one = make(), make()
    at_once.complete = one_by_one.complete = complete
    for offset, (key, values) in enumerate(changes):
        if values is None:
            one_by_one.drop(key, (1000 + offset, offset))
        else:
            one_by_one.put(key, values, (1000 + offset, offset))
    for first, last in ((0, cut), (cut, len(changes))):
        some = changes[first:last]
        offsets = range(first, first + len(some))
        at_once.change(
            [key for key, _ in some], [values for _, values in some], [1000 + each for each in offsets], offsets
        )
    assert at_once.ended == one_by_one.ended
    assert [*at_once.still_open()] == [*one_by_one.still_open()]
    assert len(at_once) == len(one_by_one)
    if isinstance(at_once, JournaledLedger) and isinstance(one_by_one, JournaledLedger):
        assert at_once.journal == one_by_one.journal
