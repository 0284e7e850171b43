"""Errors of the cluster are messages: one error, and several of a call for many items."""

from __future__ import annotations

import pytest

from kafkawire.admin import AclBindingFilter, Results
from kafkawire.cli.access.cluster_command import errors_of_cluster
from kafkawire.cli.outcome import CommandError
from kafkawire.wire.kafka_errors import ConnectionFailedError, OperationTimeoutError


def test_an_error_of_one_item_is_its_message() -> None:
    results: Results[str, None] = Results({"orders": ConnectionFailedError("refused")})
    with pytest.raises(CommandError) as raised, errors_of_cluster("context test"):
        results.all()
    assert raised.value.message == "'orders': refused (the cluster is that of context test)"


def test_of_several_errors_the_first_is_printed() -> None:
    first, second = ConnectionFailedError("refused"), ConnectionFailedError("lost")
    results: Results[object, None] = Results({AclBindingFilter(): first, "b": second})
    with pytest.raises(CommandError) as raised, errors_of_cluster():
        results.all()
    assert raised.value.message == "refused (and 1 more have failed)"


def test_other_errors_go_through() -> None:
    with pytest.raises(ExceptionGroup), errors_of_cluster():
        raise ExceptionGroup("", [ConnectionFailedError("refused"), ValueError("a mistake")])


def test_a_cluster_that_was_not_reached_in_time_leads_to_the_command_that_finds_out_why() -> None:
    with pytest.raises(CommandError, match="; kafkawire doctor, with the same options,"), errors_of_cluster():
        raise OperationTimeoutError("list_topics") from ConnectionFailedError("refused")
