"""Alerts in rows of histories that come from elsewhere: portions, rows that are closed later, what is not known."""

from __future__ import annotations

import pytest
from tests.kafka_logs.histories import time

from kafkawire.logs import ALERT_RULES, AlertFinder, AlertSeverity


def row(begin: int | None, end: int | None, **cells: object) -> dict[str, object]:
    times = (None if offset is None else time(1000 * offset) for offset in (begin, end))
    return {
        **dict(zip(("valid_from", "valid_to"), times, strict=True)),
        "from_offset": begin,
        "to_offset": end,
        **cells,
    }


def acl(begin: int | None, end: int | None, acl_id: str = "1", **cells: object) -> dict[str, object]:
    denial = {
        "acl_id": acl_id,
        "principal": "User:ann",
        "host": "*",
        "resource_type_code": 2,
        "resource_name": "orders",
        "pattern_type_code": 3,
        "operation_code": 3,
        "permission_code": 2,
    }
    return row(begin, end, **(denial | cells))


def config(begin: int, end: int | None, value: str | None) -> dict[str, object]:
    return row(begin, end, resource_type_code=2, resource_name="orders", name="retention.ms", value=value)


def test_a_row_that_is_closed_in_a_later_portion_is_found_once() -> None:
    finder = AlertFinder()
    everyone = acl(5, None, principal="User:*", permission_code=3)
    assert [each.rule for each in finder.find_in_rows({"acl_history": [everyone]})] == ["everyone-granted"]
    assert finder.find_in_rows({"acl_history": [everyone]}) == []
    denial = acl(6, 9, acl_id="2")
    (removed,) = finder.find_in_rows({"acl_history": [everyone | row(5, 8), denial], "quota_history": [{}]})
    assert (removed.rule, removed.severity, removed.time, removed.log_offset) == (
        "deny-removed",
        AlertSeverity.HIGH,
        time(9000),
        9,
    )


def test_values_of_a_config_follow_each_other_over_portions_in_any_order() -> None:
    finder = AlertFinder()
    assert finder.find_in_rows({"config_history": [config(1, None, "900000000")]}) == []
    (shorter,) = finder.find_in_rows({"config_history": [config(4, None, "1"), config(1, 4, "900000000")]})
    assert (shorter.rule, shorter.message) == ("retention-shortened", "retention.ms of topic orders: 900000000 → 1")
    (unset,) = finder.find_in_rows({"config_history": [config(6, None, None), config(4, 6, "1")]})
    assert unset.rule == "retention-unset"


def test_two_values_at_the_place_of_a_snapshot_are_two_changes() -> None:
    rows = [config(7, None, "1"), config(7, 7, "2"), config(1, 7, "900000000")]
    messages = [each.message for each in AlertFinder().find_in_rows({"config_history": rows})]
    assert messages == ["retention.ms of topic orders: 900000000 → 2", "retention.ms of topic orders: 2 → 1"]


def test_acls_and_topics_of_one_portion_are_looked_at_together() -> None:
    topics = [row(1, 5, topic_id="t", name="orders"), row(None, 9, topic_id="u", name=None)]
    acls = [acl(2, None), acl(3, 4, acl_id="2", permission_code=3), acl(None, 8, acl_id="3", principal=None)]
    (left,) = AlertFinder().find_in_rows({"topic_history": topics, "acl_history": acls})
    assert (left.rule, left.log_offset, left.principal) == ("acl-of-deleted-topic", 5, "User:ann")


def test_some_rules_are_applied() -> None:
    finder = AlertFinder([ALERT_RULES["scram-iterations-lowered"]])
    users = [row(1, 2, user="ann", mechanism="SCRAM_SHA_256", iterations=8192)]
    users += [row(2, None, user="ann", mechanism="SCRAM_SHA_256", iterations=4096)]
    (lowered,) = finder.find_in_rows({"scram_history": users, "acl_history": [acl(1, 2)]})
    assert lowered.message == "SCRAM-SHA-256 of user ann: 8192 → 4096 iterations"


def test_a_row_without_its_offsets_is_refused() -> None:
    without = {name: cell for name, cell in acl(1, None).items() if name != "from_offset"}
    with pytest.raises(KeyError, match="from_offset"):
        AlertFinder().find_in_rows({"acl_history": [without]})
