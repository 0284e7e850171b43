"""When a client waits for a broker that throttles it, against Kafka's own response classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import releases

from kafkawire.admin.connection.throttling import client_waits

pytestmark = pytest.mark.conformance

PROGRAM = Path(__file__).with_name("java") / "throttling" / "Throttling.java"


@pytest.mark.parametrize("release", releases())
def test_the_client_waits_where_kafkas_does(release: str) -> None:
    lines = run_tool(release, str(PROGRAM)).splitlines()
    kafkas = {(int(key), int(version)): waits == "true" for key, version, waits in map(str.split, lines)}
    assert len(kafkas) > 100
    assert {(key, version): client_waits(key, version) for key, version in kafkas} == kafkas
    if release == releases()[0]:  # it still has the versions at which the broker waited
        assert False in kafkas.values()
