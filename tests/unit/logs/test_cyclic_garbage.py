"""A short piece of work without collections of cyclic garbage leaves the setting of the process as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from kafkawire.logs.folding.cyclic_garbage import none_collected


@pytest.fixture(autouse=True)
def _enabled_afterwards() -> Iterator[None]:
    yield
    gc.enable()


def test_nothing_is_collected_in_the_work_only() -> None:
    with none_collected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_the_work_too() -> None:
    with pytest.raises(ValueError, match="broken"), none_collected():
        raise ValueError("broken")
    assert gc.isenabled()


def test_a_program_that_collects_nothing_itself_stays_so() -> None:
    gc.disable()
    with none_collected():
        assert not gc.isenabled()
    assert not gc.isenabled()
