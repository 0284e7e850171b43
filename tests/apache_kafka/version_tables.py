"""Writes what brokers of past releases answer to ApiVersions: ``python -m tests.apache_kafka.version_tables``.

A broker of each release is started from the jars of Maven, on storage that ``kafka-storage format`` has made with its
defaults. The newest patch release of each minor release counts. Arguments name the releases; without any those that the
file has are made again.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.apache_kafka.broker import running_broker
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.releases import REPOSITORY, is_at_least, recorded_releases

from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse
from kafkawire.protocol.api_table import APIS

FILE: Final = REPOSITORY / "src" / "kafkawire" / "broker" / "version_tables.json"


def version_table(release: str) -> Mapping[str, object]:
    """What a new broker of a release answers."""
    with tempfile.TemporaryDirectory() as folder, running_broker(release, Path(folder) / "home") as broker:
        return answered(release, broker.host, broker.port)


def answered(release: str, host: str, port: int) -> Mapping[str, object]:
    """The table of a release, as the file has it.

    Args:
        release: of the broker.
        host, port: of the broker.
    """
    version = 4 if is_at_least(release, "3.9") else 3
    with connected_to(host, port) as connection:
        answer = connection.ask(ApiVersionsRequest("kafkawire", "1"), version, ApiVersionsResponse)
    return {
        "release": release,
        "apis": {APIS[api.api_key].name: [api.min_version, api.max_version] for api in answer.api_keys},
        "supported": {each.name: [each.min_version, each.max_version] for each in answer.supported_features},
        "finalized": {each.name: each.max_version_level for each in answer.finalized_features},
    }


def add(table: Mapping[str, object]) -> None:
    """Put the table of a release into the file; releases are in the order of their versions."""
    tables = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    tables[str(table["release"]).rpartition(".")[0]] = table
    ordered = {name: tables[name] for name in sorted(tables, key=lambda name: [*map(int, name.split("."))])}
    text = re.sub(r"\[\s+(-?\d+),\s+(-?\d+)\s+\]", r"[\1, \2]", json.dumps(ordered, indent=1))
    FILE.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:] or recorded_releases():
        add(version_table(each))
        print(each, flush=True)
