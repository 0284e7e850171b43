"""`make test-all` runs every test, `make test` those that are not extended; the laws try every version."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from tests.laws.conftest import repeats_a_layout

from kafkawire.protocol import MESSAGE_NAMES, message_class


def test_make_test_leaves_out_extended_tests_and_make_test_all_runs_each_test_once(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    recipes = dict(re.findall(r"^(test(?:-all)?): (.*\n(?:\t.*\n)+)", makefile, flags=re.MULTILINE))
    fast, others = "$(PYTEST) -n 3 $(QUICK) $(UNITS)\n", "$(UNITS:%=--ignore=%)\n"
    assert fast in recipes["test"]
    assert f'-m "not extended" {others}' in recipes["test"]
    assert "$(PYTEST) -n 2 --cov --cov-report=term $(COVERING)\n" in recipes["test-all"]
    for choice in ('-m "not extended"', "-m extended"):
        assert f"{choice} $(COVERING:%=--ignore=%)\n" in recipes["test-all"]


def test_no_fast_test_is_extended(root: Path) -> None:
    """The first run of `make test` has no marks to choose by."""
    (fast,) = re.findall(r"^UNITS := (.*)", (root / "Makefile").read_text(), flags=re.MULTILINE)
    names = re.sub(r"\$\(addprefix (\S+),(.*)\)", lambda f: " ".join(f[1] + name for name in f[2].split()), fast)
    for place in names.split():
        for file in (root / place).rglob("*.py") if (root / place).is_dir() else [root / place]:
            assert "mark.extended" not in file.read_text(), file


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
