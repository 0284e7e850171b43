"""What is missing is a skip with its reason on a laptop, and a failure in continuous integration."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.apache_kafka import prerequisites


def test_missing_program_skips_and_names_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"there is no mvn on the path .*apt-get install maven"):
        prerequisites.program("mvn")


def test_missing_program_fails_in_continuous_integration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="there is no java on the path"):
        prerequisites.java()


def test_old_java_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n", "utf-8")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"Java 17 or newer is needed, and .*11\.0\.2"):
        prerequisites.java()
