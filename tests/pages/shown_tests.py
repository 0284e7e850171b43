"""Tests that a page shows and that stand on fixtures of this repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.pages.page import blocks


def shown_test(page: Path, *types: type) -> Callable[..., None]:
    """The only test of a page whose first argument has the first of the types.

    Args:
        page: its file.
        types: what its program uses without importing it.
    """
    wanted = f": {types[0].__name__}"
    (text,) = (
        block.text
        for block in blocks(page.read_text())
        if any(wanted in line.partition(",")[0] for line in block.text.splitlines() if line.startswith("def test_"))
    )
    namespace: dict[str, Any] = {each.__name__: each for each in types}
    before = set(namespace)
    exec(compile(text, page, "exec", dont_inherit=True), namespace)  # noqa: S102 the page is ours
    (found,) = (value for name, value in namespace.items() if name not in before and name.startswith("test_"))
    function: Callable[..., None] = found
    return function
