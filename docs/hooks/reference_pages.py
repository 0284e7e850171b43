"""Adds the reference pages, which the generator prints from the definitions, to the documentation.

mkdocs calls ``on_files`` (see ``hooks`` in mkdocs.yml). The pages are never written to disk.
"""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from kafkawire.codegen.generate import print_pages
from kafkawire.codegen.package_data import specs_dir

FOLDER = "reference/protocol"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each message, and those that list them."""
    for path, text in print_pages(specs_dir(), "kafkawire.protocol"):
        files.append(File.generated(config, f"{FOLDER}/{path.as_posix()}", content=text))
    return files
