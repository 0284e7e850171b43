"""The native engine with sanitizers, as ``make sanitize`` runs it."""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.native.sanitized import run_sanitized


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="the sanitizers need gcc on Linux")
@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(
            ("tests/native/test_program.py", "tests/hostile/protocol/test_truncation.py"), marks=pytest.mark.extended
        ),
        # More than a minute: the allocator of the sanitizers is slow.
        pytest.param(("tests/unit/wire/test_engine.py",), marks=pytest.mark.nightly),
    ],
    ids=["in CI", "every night"],
)
def test_the_engine_touches_no_memory_but_its_own(hostile: tuple[str, ...]) -> None:
    exit_code, output = run_sanitized(hostile)
    assert exit_code == 0, output
    assert " passed" in output
