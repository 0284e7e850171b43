"""Proposals laid over released messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.made.release_jars import Json, field, message

from kafkawire.codegen.merge.overlay import PROPOSAL_RULES
from kafkawire.codegen.resolve.layouts import resolve
from kafkawire.codegen.specs_tree import LoadedSpecs, load_specs
from kafkawire.codegen.versions import Versions

ID = field("Id", "int32", "0+", default="-1")
NODES = field("Nodes", "[]Node", "0+", fields=[ID])


def pair(stem: str, key: int, valid: str, fields: list[Json], **attributes: object) -> list[Json]:
    return [
        message(f"{stem}Request", valid, fields, type="request", apiKey=key, **attributes),
        message(f"{stem}Response", valid, fields, type="response", apiKey=key),
    ]


def folder(root: Path, released: list[Json], **proposals: list[Json]) -> LoadedSpecs:
    for group, definitions in (("clients", released), *((f"proposals/{name}", d) for name, d in proposals.items())):
        (root / group).mkdir(parents=True)
        for definition in definitions:
            (root / group / f"{definition['name']}.json").write_text(json.dumps(definition))
    return load_specs(root)


def errors(loaded: LoadedSpecs) -> list[tuple[str, str]]:
    return [(f.rule, Path(f.file).name) for f in loaded.findings if f.severity == "error"]


def test_a_folder_without_proposals_is_taken_as_it_is(tmp_path: Path) -> None:
    loaded = folder(tmp_path, pair("List", 1, "0-2", [ID], latestVersionUnstable=True))

    assert [m.name for m in loaded.messages] == ["ListRequest", "ListResponse"]
    assert loaded.unstable == dict.fromkeys(["ListRequest", "ListResponse"], Versions(2, 2))
    assert (loaded.releases, loaded.aliases, loaded.error_codes, loaded.findings) == ((), {}, (), ())
    assert loaded.proposals == {}


def test_proposed_versions_are_added_and_unstable(tmp_path: Path) -> None:
    proposed = pair("List", 1, "3", [field("Filters", "[]string", "3+")])
    loaded = folder(tmp_path, pair("List", 1, "0-2", [ID, NODES]), kip=proposed)

    request = next(m for m in loaded.messages if m.name == "ListRequest")
    assert errors(loaded) == []
    assert (str(request.valid_versions), request.group) == ("0-3", "clients")
    assert [(f.name, str(f.versions)) for f in request.fields] == [("Id", "0-2"), ("Nodes", "0-2"), ("Filters", "3+")]
    assert loaded.unstable == dict.fromkeys(["ListRequest", "ListResponse"], Versions(3, 3))
    assert loaded.proposals == dict.fromkeys(["ListRequest", "ListResponse"], ("kip",))


def test_an_unstable_release_and_a_proposal_are_both_unstable(tmp_path: Path) -> None:
    released = pair("List", 1, "0-2", [ID], latestVersionUnstable=True)
    loaded = folder(tmp_path, released, kip=pair("List", 1, "3-4", [ID]))

    assert loaded.unstable["ListRequest"] == Versions(2, 4)


def test_proposals_may_build_on_each_other(tmp_path: Path) -> None:
    loaded = folder(
        tmp_path, pair("List", 1, "0", [ID]), kip1=pair("List", 1, "1", [ID]), kip2=pair("List", 1, "2", [ID])
    )

    assert errors(loaded) == []
    assert loaded.unstable["ListRequest"] == Versions(1, 2)
    assert loaded.proposals["ListRequest"] == ("kip1", "kip2")


def test_a_proposal_may_use_a_released_struct(tmp_path: Path) -> None:
    results = field("Results", "[]Result", "3+", fields=[field("Nodes", "[]Node", "3+", fields=[ID])])
    loaded = folder(tmp_path, pair("List", 1, "0-2", [NODES]), kip=pair("List", 1, "3", [results]))

    resolved = resolve(next(m for m in loaded.messages if m.name == "ListRequest"))
    assert errors(loaded) == []
    assert sorted(resolved.structs) == ["Node", "Result"]
    assert [f.name for f in resolved.structs["Node"].fields] == ["Id"]


def test_names_and_attributes_of_released_fields_stay(tmp_path: Path) -> None:
    renamed = field("Nodes", "[]ProposedNode", "0+", fields=[field("Id", "int32", "0+", default="-1", ignorable=True)])
    loaded = folder(tmp_path, pair("List", 1, "0-2", [NODES]), kip=pair("List", 1, "3", [renamed]))

    request = next(m for m in loaded.messages if m.name == "ListRequest")
    (nodes,) = request.fields
    assert (nodes.type.name, nodes.fields[0].ignorable) == ("Node", False)


def test_a_message_of_a_proposal_alone_is_unstable_in_all_versions(tmp_path: Path) -> None:
    loaded = folder(tmp_path, pair("List", 1, "0", [ID]), kip=pair("Quotas", 10000, "1-2", [ID]))

    quotas = next(m for m in loaded.messages if m.name == "QuotasRequest")
    assert quotas.group == "proposals/kip"
    assert loaded.unstable == dict.fromkeys(["QuotasRequest", "QuotasResponse"], Versions(1, 2))
    assert loaded.proposals["QuotasRequest"] == ("kip",)


@pytest.mark.parametrize(
    ("proposed", "rule"),
    [
        (pair("List", 2, "3", [ID]), "proposal-other-message"),
        (pair("Other", 1, "3", [ID]), "proposal-other-message"),
        (pair("List", 1, "2-3", [ID]), "proposal-version-taken"),
        (pair("List", 1, "5", [ID]), "proposal-conflict"),
        (pair("List", 1, "3", [field("Nodes", "[]int32", "3+")]), "proposal-conflict"),
        (pair("List", 1, "3", [NODES, field("Id", "int32", "3+")]), "proposal-conflict"),
        (pair("List", 1, "3", [field("Id", "int32", "3+", default="7")]), "proposal-conflict"),
        (
            pair("List", 1, "3", [field("Extra", "Node", "3+", fields=[field("Id", "int64", "3+")])]),
            "proposal-conflict",
        ),
    ],
)
def test_a_proposal_that_cannot_be_laid_over_is_a_finding(tmp_path: Path, proposed: list[Json], rule: str) -> None:
    released = pair("List", 1, "0-2", [ID, NODES])

    loaded = folder(tmp_path, released, kip=proposed)

    names = [str(definition["name"]) for definition in proposed]
    assert errors(loaded) == [(rule, f"{name}.json") for name in names]
    assert {f.rule for f in loaded.findings} <= {known.id for known in PROPOSAL_RULES}
    assert [(m.name, str(m.valid_versions)) for m in loaded.messages] == [
        ("ListRequest", "0-2"),
        ("ListResponse", "0-2"),
    ]
    finding = loaded.findings[0]
    assert "clients" not in finding.file
    assert finding.remedy
