"""The user's file of contexts: an empty place for each test that wants one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.cli.access.config_file import CONFIG_VARIABLE
from kafkawire.cli.access.selection import CONTEXT_VARIABLE, SERVER_VARIABLE


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the file of contexts is; it does not exist yet, and the environment names no cluster."""
    for variable in (CONFIG_VARIABLE, CONTEXT_VARIABLE, SERVER_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "config" / "kafkawire" / "config.toml"
