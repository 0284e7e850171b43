"""Engines in tests: an installation may lack the native one, CI may not."""

from __future__ import annotations

import os

import pytest

from kafkawire.wire import EngineError, EngineName, use_engine


def use_engine_or_skip(name: EngineName) -> None:
    """Use an engine; skip the test where it is not installed.

    Raises:
        EngineError: it is not installed, and this is CI.
    """
    try:
        use_engine(name)
    except EngineError as error:
        if os.environ.get("CI") is not None:
            raise
        pytest.skip(str(error))
