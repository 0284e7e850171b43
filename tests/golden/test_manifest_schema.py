"""The published JSON Schema of manifests is that of the reader.

``pytest tests/golden --update-golden`` writes it again. A field that goes or changes its type needs another
``MANIFEST_FORM``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from kafkawire.logs import Manifest

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "manifest.schema.json"


def schema_of_manifests() -> dict[str, Any]:
    (root,), components = msgspec.json.schema_components([Manifest])
    for each in components.values():
        each.pop("description", None)  # is on the page of the API
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, **root, "$defs": dict(sorted(components.items()))}


def test_the_published_schema_is_that_of_the_reader(*, update_golden: bool) -> None:
    text = json.dumps(schema_of_manifests(), indent=2) + "\n"
    if update_golden:
        PUBLISHED.write_text(text, "utf-8")
    assert PUBLISHED.read_text("utf-8") == text


def test_no_field_is_gone_and_none_has_another_type() -> None:
    stored = json.loads(PUBLISHED.read_text("utf-8"))["$defs"]
    now = schema_of_manifests()["$defs"]
    for name, described in stored.items():
        for field, kind in described["properties"].items():
            assert now[name]["properties"].get(field) == kind, f"{name}.{field}: raise MANIFEST_FORM"
