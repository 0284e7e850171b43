"""What a broker says that it serves, and to whom (KIP-35, KIP-511, KIP-584)."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import on_plain
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse

pytestmark = pytest.mark.interop


@on_plain
def test_versions_and_features(talk: Talk) -> None:
    for version in range(5):
        talk.ask(ApiVersionsRequest("kafkawire", "1.0"), version, ApiVersionsResponse)


@on_plain
def test_names_of_software(talk: Talk) -> None:
    names = (("", "1"), ("a", ""), ("a b", "1"), ("-a", "1"), ("a-", "1"), ("a.b-c", "1.0-x"), ("ä", "1"), ("a_b", "1"))
    for name, version in names:
        for api_version in (3, 4):
            talk.ask(ApiVersionsRequest(name, version), api_version, ApiVersionsResponse)
