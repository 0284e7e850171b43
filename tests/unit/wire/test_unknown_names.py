"""Names that are in no table, and what may be meant."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from kafkawire.broker import EmbeddedBroker
from kafkawire.logs.history_tables import history_table
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import BUILT_IN
from kafkawire.protocol import message_class
from kafkawire.wire.unknown_names import UnknownNameError


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CreateTopicRequest", "CreateTopicsRequest"),
        ("CreateTopics", "CreateTopicsRequest or CreateTopicsResponse"),
        ("CREATE_TOPICS_REQUEST", "CreateTopicsRequest"),
        ("createtopicsrequest", "CreateTopicsRequest"),
        ("TopicRecrod", "TopicRecord"),
    ],
)
def test_an_unknown_message_names_the_similar_ones(name: str, meant: str) -> None:
    with pytest.raises(KeyError) as raised:
        message_class(name)
    assert str(raised.value) == f"there is no message {name!r}; did you mean {meant}?"
    with pytest.raises(KeyError) as raised:
        BUILT_IN.message(name)
    assert str(raised.value) == f"there is no message {name!r}; did you mean {meant}?"


def test_a_name_like_no_other_gives_no_hint() -> None:
    assert str(UnknownNameError("message", "zzz", ["TopicRecord"])) == "there is no message 'zzz'"
    assert str(UnknownNameError("message", "", ["TopicRecord"])) == "there is no message ''"


def test_the_error_is_short_and_can_be_pickled() -> None:
    error = UnknownNameError("message", "x" * 1000, ["y"])
    assert len(repr(error)) < 200
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 what was just made


async def test_listeners_and_histories_have_the_hint_too() -> None:
    async with EmbeddedBroker() as broker:
        with pytest.raises(KeyError) as raised:
            broker.address("PLAIN_TEXT")
        assert str(raised.value) == "there is no listener 'PLAIN_TEXT'; did you mean PLAINTEXT?"
    with pytest.raises(KeyError) as raised:
        history_table("acl_histroy", ReadOptions())
    assert str(raised.value) == "there is no history 'acl_histroy'; did you mean acl_history?"


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        ("kafkawire.protocol", "CreateTopicRequest", "CreateTopicsRequest"),
        ("kafkawire.admin", "AdminCleint", "AdminClient"),
        ("kafkawire.broker", "EmbededBroker", "EmbeddedBroker"),
    ],
)
def test_python_suggests_the_name_that_a_package_has(module: str, name: str, meant: str) -> None:
    program = f"import {module} as package; package.{name}"
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"Did you mean: '{meant}'?" in failed.stderr
