"""Each test is run by `make test`, `make test-ci` or `make test-nightly`; the laws try every version."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import yaml
from tests.laws.conftest import repeats_a_layout
from tests.wheel.test_release import PINNED

from kafkawire.protocol import MESSAGE_NAMES, message_class


def test_each_command_has_its_tests_and_no_test_is_in_none(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    recipes = dict(re.findall(r"^(test[a-z-]*): (.*\n(?:\t.*\n)+)", makefile, flags=re.MULTILINE))
    for tests in ("$(UNITS)", "$(UNITS:%=--ignore=%)"):
        assert f'-m "not extended" {tests}\n' in recipes["test"]
    assert '$(PYTEST) -n 2 $(QUICK) --cov --cov-report=term -m "not nightly" $(COVERING)\n' in recipes["test-ci"]
    assert '$(QUICK) -m "not nightly" $(COVERING:%=--ignore=%)\n' in recipes["test-ci"]
    assert "-m nightly tests\n" in recipes["test-nightly"]
    assert '$(PYTEST) -n 2 -m "not nightly" tests/laws tests/hostile\n' in recipes["test-nightly"]


def test_the_long_tests_run_every_night(root: Path) -> None:
    workflow = yaml.safe_load((root / ".github" / "workflows" / "nightly.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = {name for job in workflow["jobs"].values() for name in job["strategy"]["matrix"]["command"]}
    assert commands == {"test-nightly", "test-spark"}
    assert all(PINNED.fullmatch(step["uses"]) for step in steps if "uses" in step)


def test_laws_have_a_case_for_each_version_and_make_test_has_one_for_each_layout(root: Path) -> None:
    modules = [f"tests.laws.protocol.{file.stem}" for file in (root / "tests/laws/protocol").glob("test_*.py")]
    cases = [case.values for module in modules for case in importlib.import_module(module).CASES]
    assert len(cases) == len(set(cases))
    classes = [message_class(name) for name in MESSAGE_NAMES]
    assert set(cases) == {(cls, version) for cls in classes for version in cls.VERSIONS}
    in_make_test = [
        (cls, cls.layouts().by_version[version]) for cls, version in cases if not repeats_a_layout(cls, version)
    ]
    assert len(in_make_test) == len(set(in_make_test))
    assert set(in_make_test) == {(cls, index) for cls in classes for index in range(len(cls.layouts().layouts))}
