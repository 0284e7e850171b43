"""The error of the import."""

from __future__ import annotations


class SpecsImportError(Exception):
    """An import that fails; the text says what is wrong and what to do.

    Attributes:
        problems: one text for each problem.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))
