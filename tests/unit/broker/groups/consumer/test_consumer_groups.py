"""The consumer groups of a broker: which group a heartbeat finds."""

from __future__ import annotations

import pytest
from tests.embedded.driven_mixed_groups import ClassicClient, DrivenMixedGroups

from kafkawire.protocol import ConsumerGroupHeartbeatRequest
from kafkawire.protocol.error_codes import ErrorCode


@pytest.mark.parametrize("epoch", [-2, -1, 1, 300])
async def test_only_a_member_that_joins_begins_a_group(epoch: int) -> None:
    """With the messages of Apache Kafka, which has another one for members that leave."""
    groups = DrivenMixedGroups(group_initial_rebalance_delay_ms="0")
    request = ConsumerGroupHeartbeatRequest("g", "member", epoch, "one")
    answer = await groups.send(request)
    kind = "Consumer group" if epoch > 0 else "Group"
    assert (answer.error_code, answer.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} g not found.")
    await ClassicClient(groups, "orders").step()
    answer = await groups.send(request)
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message == "Group g is not a consumer group."
    await groups.close()


@pytest.mark.parametrize(
    ("version", "epoch", "needs_id"),
    [(0, 0, False), (0, -2, False), (0, -1, True), (0, 1, True), (1, 0, True), (1, -2, True), (1, -1, True)],
)
async def test_the_first_version_lets_the_broker_make_the_id_of_a_member_that_joins(
    version: int, epoch: int, *, needs_id: bool
) -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    request = ConsumerGroupHeartbeatRequest("g", "", epoch, "one", None, 20_000, ("orders",), None, None, ())
    answer = await groups.send(request, version)
    if needs_id:
        assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, "MemberId can't be empty.")
    elif epoch:
        assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    else:
        assert (answer.error_code, len(answer.member_id or "")) == (ErrorCode.NONE, 22)
    await groups.close()
