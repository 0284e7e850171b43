"""Fewer examples for laws that would take most of the time, and the laws that ``make test`` leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from tests.hypothesis_profiles import scaled

from kafkawire.wire import Message

_LAWS = Path(__file__).parent
_PROTOCOL = _LAWS / "protocol"

EXAMPLES = {
    _PROTOCOL: 5,  # some 2 600 emitted tests
    _LAWS / "logs" / "test_change_laws.py": 50,
    _LAWS / "logs" / "test_metadata_decoder_laws.py": 150,
    _LAWS / "logs" / "test_parts_of_logs.py": 200,
    _LAWS / "model" / "test_acl_effect_laws.py": 80,  # each example decides on 1 200 rights
    _LAWS / "wire" / "test_json_round_trip.py": 40,  # each value has a field of every type and kind
    _LAWS / "wire" / "test_reference_round_trip.py": 40,
}
"""File or folder to the number of examples of its laws, in place of 100."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give laws fewer examples where there are many laws or large examples, and mark those that repeat a layout.

    Every run draws new examples. A profile with more or fewer than 100 examples multiplies these numbers too.
    """
    laws = [item for item in items if isinstance(item, pytest.Function) and _LAWS in item.path.parents]
    for law, examples in {item.function: examples_of(item.path) for item in laws}.items():
        if examples is not None and hasattr(law, "hypothesis"):
            settings(max_examples=scaled(examples))(law)
    for machine in {item.cls for item in laws if isinstance(getattr(item.cls, "settings", None), settings)}:
        machine.settings = settings(machine.settings, max_examples=scaled(machine.settings.max_examples))
    for item in laws:
        if item.path.parent == _PROTOCOL and repeats_a_layout(*item.callspec.params.values()):  # type: ignore[arg-type]
            item.add_marker(pytest.mark.extended)


def examples_of(file: Path) -> int | None:
    """The examples of the laws of a file; None for 100."""
    return EXAMPLES.get(file, EXAMPLES.get(file.parent))


def repeats_a_layout(cls: type[Message], version: int) -> bool:
    """Whether a newer version of the message has the same layout."""
    by_version = cls.layouts().by_version
    return any(newer > version and index == by_version[version] for newer, index in by_version.items())
