"""Rules for every file of the repository."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

MOST_LINES = 500
MOST_TEMPLATE_LINES = 160
VAGUE_NAMES = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}

# Put together here, so that this file does not hold what it looks for.
INDEX_ADDRESSES = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "repo.maven." + "apache.org",
    "repo1.maven" + ".org",
    "deb." + "debian.org",
    "--index" + "-url",
    "--find" + "-links",
]
MACHINE_PATHS = re.compile(
    r"(?<![\w.-])(?:\.\./sha" + r"red|/wo" + r"rk|/ro" + r"ot|/ho" + r"me/\w+|/Us" + r"ers/\w+)\b"
)
OPEN_ENDS = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def hand_written(files: list[Path], root: Path) -> list[Path]:
    return [file for file in files if not file.is_relative_to(root / "generated")]


def texts(files: list[Path]) -> Iterator[tuple[Path, str]]:
    for file in files:
        content = file.read_bytes()
        if b"\0" not in content:
            yield file, content.decode("utf-8", "replace")


def test_no_index_address_anywhere(repository_files: list[Path]) -> None:
    found = [
        (file, address) for file, text in texts(repository_files) for address in INDEX_ADDRESSES if address in text
    ]
    assert found == []


def test_no_path_of_one_machine_anywhere(repository_files: list[Path]) -> None:
    found = [(file, match.group()) for file, text in texts(repository_files) for match in MACHINE_PATHS.finditer(text)]
    assert found == []


def test_nothing_is_left_open(repository_files: list[Path], root: Path) -> None:
    files = [
        file for file in hand_written(repository_files, root) if file.suffix in {".py", ".jinja", ".java", ".toml"}
    ]
    assert [(file, match.group()) for file, text in texts(files) for match in OPEN_ENDS.finditer(text)] == []


def test_modules_are_small(repository_files: list[Path], root: Path) -> None:
    modules = [file for file in hand_written(repository_files, root) if file.suffix in {".py", ".java"}]
    assert len(modules) > 50
    lengths = {file: len(file.read_text().splitlines()) for file in modules}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_templates_are_small(repository_files: list[Path], root: Path) -> None:
    templates = [file for file in repository_files if file.is_relative_to(root / "templates")]
    assert templates != []
    lengths = {file: len(file.read_text().splitlines()) for file in templates}
    assert {file: length for file, length in lengths.items() if length > MOST_TEMPLATE_LINES} == {}


def test_modules_have_names_that_say_something(repository_files: list[Path], root: Path) -> None:
    modules = [file.relative_to(root) for file in repository_files if file.suffix == ".py"]
    words = {module: {word for part in module.with_suffix("").parts for word in part.split("_")} for module in modules}
    assert [module for module, named in words.items() if named & VAGUE_NAMES] == []


MAY_CATCH_EVERYTHING = re.compile(r"Exception\b|\bexcept[\s\\]*:")
"""What a file has that catches everything; parsing all files takes seconds."""


def test_no_error_is_swallowed_wholesale(repository_files: list[Path]) -> None:
    caught = [
        (file, handler.lineno)
        for file in repository_files
        if file.suffix == ".py" and MAY_CATCH_EVERYTHING.search(file.read_text())
        for handler in ast.walk(ast.parse(file.read_text()))
        if isinstance(handler, ast.ExceptHandler) and catches_everything(handler) and not passes_on(handler)
    ]
    assert caught == []


def catches_everything(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or ast.unparse(handler.type) in {"Exception", "BaseException"}


def passes_on(handler: ast.ExceptHandler) -> bool:
    """Whether the handler raises the same error again, hands it on to somebody, or logs it with its traceback."""
    last = handler.body[-1]
    is_raised = isinstance(last, ast.Raise) and last.exc is None
    inside = [node for statement in handler.body for node in ast.walk(statement)]
    is_handed_on = any(isinstance(node, ast.Name) and node.id == handler.name for node in inside)
    is_logged = any(isinstance(node, ast.Attribute) and node.attr == "exception" for node in inside)
    return is_raised or is_handed_on or is_logged


def test_the_namespace_stays_open(root: Path) -> None:
    portions = [root / top / "kafkawire" for top in ("src", "generator", "generated")]
    assert [portion for portion in portions if not portion.is_dir() or (portion / "__init__.py").exists()] == []
