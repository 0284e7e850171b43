"""The evidence of a page: the first inputs, a digest over all, versions, options, and what changed meanwhile."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafkawire.cli.app import main
from kafkawire.logs.planning import find_logs
from kafkawire.report import evidence as page_evidence
from kafkawire.report.evidence import GatheredEvidence, packed_evidence

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
READ = {"__cluster_metadata-0", "__consumer_offsets-0", "__consumer_offsets-1"}


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_page_has_the_inputs_that_it_was_made_from(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", "logs", str(LOGS), "--out", str(page), "--max-rows", "7", "--title", "Audit"]) == 0
    data = data_of(page)
    evidence = data["evidence"]
    paths = [Path(each["path"]) for each in evidence["inputs"]]
    assert {path.parent.name for path in paths} == READ
    assert [each["sha256"] for each in evidence["inputs"]] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    ]
    assert evidence["count"] == len(paths)
    assert evidence["options"] == {"DIR": [str(LOGS)], "--title": "Audit", "--max-rows": "7"}
    assert evidence["changed"] == []
    printed = subprocess.run(["sha256sum", *paths], capture_output=True, check=True).stdout
    assert evidence["digest"] == hashlib.sha256(printed).hexdigest()


def test_it_can_be_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", "logs", str(LOGS), "--out", str(page), "--no-evidence"]) == 0
    assert data_of(page)["evidence"] is None


def test_of_many_inputs_the_first_are_listed_and_the_digest_covers_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = GatheredEvidence(find_logs([LOGS]), {}).after_reading()
    monkeypatch.setattr(page_evidence, "LISTED_INPUTS", 2)
    part = packed_evidence(GatheredEvidence(find_logs([LOGS]), {}).after_reading())
    assert part is not None
    assert part["count"] == len(whole.inputs) == 7
    assert len(part["inputs"]) == 2  # type: ignore[arg-type]
    assert part["digest"] == whole.digest


def test_inputs_that_went_while_they_were_read_are_named(tmp_path: Path) -> None:
    logs = shutil.copytree(LOGS, tmp_path / "logs")
    gathered = GatheredEvidence(find_logs([logs]), {})
    gone = logs / "__consumer_offsets-0" / "00000000000000000000.log"
    gone.unlink()
    assert list(gathered.after_reading().changed) == [str(gone)]
