"""A cluster whose metadata version is older than its brokers: it refuses what it cannot store (C28)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.model.cluster import FeatureUpdate, UpgradeType
from kafkawire.model.scram import ScramDeletion, ScramMechanism, ScramUpsertion
from kafkawire.protocol.errors import UnsupportedVersionError
from kafkawire.wire.kafka_errors import ApiError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

FORMATTED = "3.4"
LEVEL = 8
"""``metadata.version`` of 3.4."""

LEVEL_WITH_SCRAM = 11
"""``metadata.version`` of 3.5, the first that can store SCRAM credentials."""

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    release: str = request.param
    folder = tmp_path_factory.mktemp(f"old-metadata-{release}")
    with running_broker(release, folder, format_arguments=("--release-version", FORMATTED)) as running:
        yield running


def test_scram_is_refused_until_the_metadata_can_store_it(admin: BlockingAdminClient) -> None:
    users = ["alice", "bob"]
    given = [ScramUpsertion(user, mechanism, "secret") for user in users for mechanism in (SHA_256, SHA_512)]
    items = [(one.user, one.mechanism) for one in given]
    assert admin.describe_features().finalized["metadata.version"].highest == LEVEL

    refused = admin.alter_user_scram_credentials([*given, ScramDeletion("carol", SHA_256)]).errors()
    assert list(refused) == [*items, ("carol", SHA_256)]
    assert {type(error) for item, error in refused.items() if item in items} == {UnsupportedVersionError}
    assert {(error.attempts, error.outcome_unknown) for error in refused.values()} == {(1, False)}
    assert len(admin.describe_user_scram_credentials()) == 0

    lower = {"metadata.version": FeatureUpdate(LEVEL - 1, UpgradeType.UPGRADE)}
    assert isinstance(admin.update_features(lower).errors()["metadata.version"], ApiError)
    upgrade = {"metadata.version": FeatureUpdate(LEVEL_WITH_SCRAM)}
    assert admin.update_features(upgrade, validate_only=True).all() == {"metadata.version": None}
    assert admin.describe_features().finalized["metadata.version"].highest == LEVEL
    assert admin.update_features(upgrade).all() == {"metadata.version": None}
    eventually(
        lambda: admin.describe_features().finalized["metadata.version"].highest, lambda level: level == LEVEL_WITH_SCRAM
    )

    assert admin.alter_user_scram_credentials(given).all() == dict.fromkeys(items)
    described = eventually(lambda: admin.describe_user_scram_credentials(users), lambda found: not found.errors())
    assert {user: [info.mechanism for info in infos] for user, infos in described.all().items()} == {
        user: [SHA_256, SHA_512] for user in users
    }
