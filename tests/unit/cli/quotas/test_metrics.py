"""``kafkawire quotas metrics``: what a running broker has written about the use of its quotas."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kafkawire.broker import ClientQuotaType, QuotaMetric
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.quotas.metrics_file import write_metrics

METRICS = [
    QuotaMetric(ClientQuotaType.PRODUCE, {"user": "alice", "client-id": ""}, 100.0, 250.5, 1500.0),
    QuotaMetric(ClientQuotaType.FETCH, {"team": "billing"}, None, 0.0, 0.0),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_metrics(tmp_path / "quotas.jsonl", METRICS)
    return tmp_path / "quotas.jsonl"


def test_rows_have_the_use_of_each_quota(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quotas", "metrics", f"{file}", "-o", "json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == [
        {
            "quota": "producer_byte_rate",
            "tags": {"user": "alice", "client-id": ""},
            "limit": 100.0,
            "rate": 250.5,
            "throttle_ms": 1500.0,
        },
        {"quota": "consumer_byte_rate", "tags": {"team": "billing"}, "limit": None, "rate": 0.0, "throttle_ms": 0.0},
    ]
    assert main(["quotas", "metrics", f"{file}"]) == ExitCode.DONE
    assert "user=alice, client-id=" in capsys.readouterr().out


def test_an_old_file_is_said_to_be_old(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(file, (0, 0))
    assert main(["quotas", "metrics", f"{file}"]) == ExitCode.DONE
    assert "the broker has ended without removing it" in capsys.readouterr().err


def test_other_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").write_text("x\n", "utf-8")
    assert main(["quotas", "metrics", f"{tmp_path / 'other'}"]) == ExitCode.USAGE
    assert "has no quota metrics" in capsys.readouterr().err
    assert main(["quotas", "metrics", f"{tmp_path / 'none'}"]) == ExitCode.FAILED
    assert "start the broker with --quota-metrics-file" in capsys.readouterr().err
