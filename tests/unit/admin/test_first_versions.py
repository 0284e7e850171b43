"""The first versions of messages with a field, from their layouts."""

from __future__ import annotations

import pytest

from kafkawire import protocol
from kafkawire.admin.first_versions import first_version, metadata_request


def test_the_first_version_with_a_field_comes_from_the_layouts() -> None:
    assert first_version(protocol.DescribeAclsRequest, "resource_type_filter") == 0
    assert first_version(protocol.DescribeAclsRequest, "pattern_type_filter") == 1
    assert first_version(protocol.UpdateFeaturesRequest, "feature_updates.upgrade_type") == 1


@pytest.mark.parametrize("field", ["nothing", "feature_updates.nothing", "timeout_ms.nothing"])
def test_a_field_that_no_version_has_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"no version of UpdateFeaturesRequest has a field {field}"):
        first_version(protocol.UpdateFeaturesRequest, field)


def test_a_request_for_metadata_creates_topics_only_in_versions_that_cannot_say_otherwise() -> None:
    assert metadata_request(3, ("new",)).allow_auto_topic_creation
    assert not metadata_request(4, ("new",)).allow_auto_topic_creation
    assert metadata_request(4, None).topics is None
