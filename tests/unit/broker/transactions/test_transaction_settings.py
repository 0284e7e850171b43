"""The properties of transactions."""

from __future__ import annotations

from tests.embedded.configurations import configuration_of

from kafkawire.broker.transactions.settings import TransactionSettings


def test_the_defaults_are_those_of_a_broker_without_properties() -> None:
    assert TransactionSettings.of(configuration_of()) == TransactionSettings()


def test_transactional_ids_and_their_partitions_may_take_as_much_memory_as_members_of_groups() -> None:
    """The deviation ``bounded-transactions``."""
    settings = TransactionSettings()
    assert (settings.most_bytes, settings.most_partitions) == (64 * 1024 * 1024, 10_000)
