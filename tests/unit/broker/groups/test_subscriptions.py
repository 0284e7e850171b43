"""The names to which a member subscribes, in the order of Kafka's sets."""

from __future__ import annotations

from itertools import permutations

from kafkawire.broker.groups.subscriptions import names_in_order, recorded_names, subscribed_to


def test_a_member_that_subscribes_to_the_same_names_keeps_their_order() -> None:
    """Names of one hash have the order in which they came."""
    assert names_in_order(("AaBB", "BBAa")) == ("AaBB", "BBAa")
    assert names_in_order(("BBAa", "AaBB", "BBAa")) == ("BBAa", "AaBB")
    before = ("BBAa", "AaBB")
    assert subscribed_to(("AaBB", "BBAa"), before) == before
    assert subscribed_to(("AaBB", "BBAa", "AaBB"), before) == before
    assert subscribed_to(("AaBB", "BBAa")) == ("AaBB", "BBAa")
    assert subscribed_to(("AaBB",), before) == ("AaBB",)
    assert subscribed_to((), before) == ()


def test_a_record_has_names_in_the_order_of_strings_in_java() -> None:
    """Which is that of UTF-16."""
    ordered = ("A", "a", "b", "\U0001f600", "\uffee")
    for names in permutations(ordered):
        assert recorded_names(names) == ordered
