"""Build the site: ``python docs/building/build.py``, which is what ``make docs`` does.

The pages that the generator prints from the definitions are written beside copies of those of ``docs/``, and the site
generator reads nothing else. So it needs no hook, and another one could take its place (docs/decisions/0039).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from kafkawire.codegen.generate import print_pages
from kafkawire.codegen.package_data import specs_dir

ROOT = Path(__file__).parents[2]
REFERENCE = Path("reference", "protocol")
"""Where the printed pages go, under ``docs/``."""

SOURCES = ("src", "generator", "generated")
"""Where the API reference finds the docstrings."""

PATHS = {
    "reference/protocol/messages/": ("Reference", "Protocol", "Messages"),
    "decisions/0": ("Project", "Decisions"),
}
"""Where pages are that navigation does not list, by the beginning of their addresses."""

SEARCHED_FOR = {
    "how-to/commands-quotas.html": ("How-to", "Quota", "Quotas"),
    "how-to/commands-topics.html": ("How-to", "Topic", "Topics"),
    "how-to/declared-state.html": ("How-to", "Plan", "Apply"),
}
"""Words that lead to a page although the sections of others have them in their titles."""

COMPLAINTS = ("griffe:", "WARNING", "Warning", "mkdocs_autorefs:", "mkdocstrings:")
"""Beginnings of lines that report what the strict mode of the site generator lets pass."""


def lay_out(folder: Path) -> Path:
    """Write all that the site is built from into an empty folder.

    Returns:
        The configuration in it.
    """
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("building"))
    for path, text in print_pages(specs_dir(), "kafkawire.protocol"):
        page = folder / "docs" / REFERENCE / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, "utf-8")
    for source in (*SOURCES, "docs/building"):
        (folder / Path(source).name).symlink_to(ROOT / source)
    return Path(shutil.copy2(ROOT / "mkdocs.yml", folder))


def build(folder: Path) -> str | None:
    """Build the site into ``site`` of a folder.

    Returns:
        What is wrong with the pages, or None.
    """
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(lay_out(folder))]
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    environment = os.environ | {"REPOSITORY": urls.get("Repository", "")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    complaints = [line for line in printed.splitlines() if line.startswith(COMPLAINTS)]
    if done.returncode:
        return printed
    improve_index(folder / "site" / "search.json")
    return "\n".join(complaints) or None


def improve_index(file: Path) -> None:
    """Let the search find other pages before those of messages and decisions, which navigation does not list.

    A path counts as a title does. The path of these pages was their title; the words of A to Z have theirs instead.
    Headings of messages without text, and grammars, are left out.
    """
    index = json.loads(file.read_text("utf-8"))
    index["items"] = [item for item in index["items"] if not _is_noise(item["location"], item["text"])]
    for item in index["items"]:
        for folder, path in PATHS.items():
            if item["level"] == 1 and item["location"].startswith(folder):
                item["path"] = list(path)
        if item["location"].partition("#")[0] in SEARCHED_FOR:
            item["path"] = list(SEARCHED_FOR[item["location"].partition("#")[0]])
        if item["location"].startswith("a-to-z.html#"):
            item["path"].append(item["title"])
    file.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), "utf-8")


def _is_noise(location: str, text: str) -> bool:
    is_message = location.startswith("reference/protocol/messages/")
    return is_message and (not text or location.endswith(("#on-the-wire", "#in-python")))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder of the site, which is replaced")
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory(prefix="kafkawire-docs-") as folder:
        wrong = build(Path(folder))
        if wrong is not None:
            sys.stderr.write(wrong + "\n")
            return 1
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(Path(folder, "site"), out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
