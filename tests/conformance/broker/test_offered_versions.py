"""The versions that the embedded broker offers, against the classes of the release as which it answers."""

from __future__ import annotations

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Apis

from kafkawire.broker.offered_versions import RELEASE, offered_versions
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey

pytestmark = pytest.mark.conformance


def test_offered_versions_are_those_of_the_named_release(oracles: Oracles) -> None:
    (answer,) = oracles(RELEASE).ask([Apis()])
    assert answer.apis
    served = [message_class(api.request) for api in APIS.values() if _is_offered(api.key)]
    stable, unstable = (offered_versions(served, unstable=unstable) for unstable in (False, True))
    for key, versions in stable.items():
        kafkas = answer.apis[key]
        # Brokers list Produce from 0 on (KIP-896), though their class begins at 3.
        lowest = 0 if key == ApiKey.PRODUCE else kafkas.lowest
        assert versions == range(lowest, kafkas.highest_stable + 1), kafkas.name
        assert unstable[key].stop > kafkas.highest, kafkas.name
    assert len(stable) > 30


def _is_offered(key: int) -> bool:
    try:
        return bool(offered_versions([message_class(APIS[key].request)], unstable=True))
    except LookupError:
        return False
