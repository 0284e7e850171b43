"""What generated modules look like: their text, letter by letter, for definitions that reach every odd corner.

``pytest tests/golden --update-golden`` writes ``expected/`` again; read the difference before committing it. The big
``Every*`` messages are not kept as text: test_execution.py runs them, and test_types.py checks their types.
"""

from __future__ import annotations

from pathlib import Path

from tests.golden.codegen.conftest import GoldenPackage

EXPECTED = Path(__file__).parent / "expected"
NOT_KEPT = ("every_array.py", "every_tag.py", "every_type.py", "class_.py", "kafkawire-manifest.json")


def test_generated_text(golden: GoldenPackage, update_golden: bool) -> None:
    written = {
        f"{path.relative_to(golden.root)}.txt": path.read_text()
        for path in sorted(golden.root.rglob("*"))
        if path.is_file() and path.name not in NOT_KEPT and "__pycache__" not in path.parts
    }
    if update_golden:
        _replace(written)
    assert {str(path.relative_to(EXPECTED)) for path in EXPECTED.rglob("*.txt")} == set(written)
    for name, text in written.items():
        assert text == (EXPECTED / name).read_text(), f"{name} differs"


def _replace(written: dict[str, str]) -> None:
    for old in EXPECTED.rglob("*.txt"):
        old.unlink()
    for name, text in written.items():
        (EXPECTED / name).parent.mkdir(parents=True, exist_ok=True)
        (EXPECTED / name).write_text(text)
