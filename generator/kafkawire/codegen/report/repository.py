"""Where a file lies in its repository: annotations name files from there, wherever the check was started."""

from __future__ import annotations

from pathlib import Path


class RepositoryPaths:
    """Paths from the root of the repository around a folder; without one, from that folder."""

    def __init__(self, here: Path) -> None:
        self._here = here.resolve()
        folders = (self._here, *self._here.parents)
        # In a linked working tree and in a submodule .git is a file.
        self._root = next((folder for folder in folders if (folder / ".git").exists()), self._here)

    def of(self, file: str) -> str | None:
        """The path of a file that is shown as `file`; None if it is not in this repository.

        Besides files of the disk this knows what a file at a git ref is shown as, ``git:main:specs/clients/X.json``.
        """
        path = self._here / file
        if path.exists():
            path = path.parent.resolve() / path.name  # a link is annotated itself, and not what it leads to
            return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None
        words = file.split(":", 2)
        return words[2] if len(words) == 3 and words[0] == "git" and words[2] else None
