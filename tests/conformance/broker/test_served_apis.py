"""The versions that the embedded broker offers, against the classes of the release as which it answers."""

from __future__ import annotations

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Apis
from tests.embedded.apis import listed_apis

from kafkawire.broker.served_apis import RELEASE
from kafkawire.protocol.api_table import ApiKey

pytestmark = pytest.mark.conformance


async def test_offered_versions_are_those_of_the_named_release(oracles: Oracles) -> None:
    (answer,) = oracles(RELEASE).ask([Apis()])
    assert answer.apis
    stable, unstable = await listed_apis(), await listed_apis({"unstable.api.versions.enable": "true"})
    for key, versions in stable.items():
        kafkas = answer.apis[key]
        # Brokers list Produce from 0 on (KIP-896), though their class begins at 3.
        lowest = 0 if key == ApiKey.PRODUCE else kafkas.lowest
        assert versions == range(lowest, kafkas.highest_stable + 1), kafkas.name
        assert unstable[key].stop > kafkas.highest, kafkas.name
    assert len(stable) > 30
