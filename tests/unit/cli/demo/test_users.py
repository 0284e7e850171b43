"""The users of the demonstration: a policy may refuse a topic, any other error ends the chapter."""

from __future__ import annotations

import pytest

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.demo.users import set_up
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.protocol.errors import TopicAuthorizationFailedError


def test_an_error_that_is_no_policy_is_raised() -> None:
    with ThreadedBroker() as broker:
        broker.faults.refuse(CreateTopicsRequest, error=TopicAuthorizationFailedError, times=1)
        with pytest.raises(TopicAuthorizationFailedError):
            set_up(broker.bootstrap_servers)
