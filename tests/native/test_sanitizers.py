"""The native engine with sanitizers, as ``make sanitize`` runs it."""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.native.sanitized import run_sanitized


@pytest.mark.extended  # a minute; the allocator of the sanitizers is slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="the sanitizers need gcc on Linux")
def test_the_engine_touches_no_memory_but_its_own() -> None:
    hostile = (
        "tests/native/test_program.py",
        "tests/unit/wire/test_engine.py",
        "tests/hostile/protocol/test_truncation.py",
    )
    exit_code, output = run_sanitized(hostile)
    assert exit_code == 0, output
    assert " passed" in output
