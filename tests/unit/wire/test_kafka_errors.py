"""Errors between a client and a cluster: their texts, their classes, and pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from kafkawire.protocol.errors import NotControllerError, TopicAlreadyExistsError
from kafkawire.wire.kafka_errors import (
    ApiError,
    BrokenStreamError,
    ClosedError,
    ConnectionFailedError,
    DisconnectedError,
    KafkaError,
    OperationTimeoutError,
    UnrecognizedCodeError,
)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            TopicAlreadyExistsError("Topic 'a' already exists.", node=1, attempts=2),
            "TOPIC_ALREADY_EXISTS (36): Topic 'a' already exists. [node 1, attempt 2]",
        ),
        (TopicAlreadyExistsError(), "TOPIC_ALREADY_EXISTS (36)"),
        (
            TopicAlreadyExistsError(outcome_unknown=True),
            "TOPIC_ALREADY_EXISTS (36) [an attempt had an unknown outcome]",
        ),
        (NotControllerError("", node=0), "NOT_CONTROLLER (41) [node 0]"),
        (UnrecognizedCodeError(999, "New.", throttle_ms=70), "UNRECOGNIZED_CODE (999): New. [throttled for 70 ms]"),
        (DisconnectedError("The broker closed the connection."), "The broker closed the connection."),
        (ClosedError(), "ClosedError"),
        (OperationTimeoutError("create_topics", "30 s", attempts=3), "create_topics timed out: 30 s [attempt 3]"),
        (OperationTimeoutError("create_topics", waited=30.04), "create_topics timed out after 30 s"),
    ],
)
def test_an_error_says_what_where_and_how_often(error: KafkaError, expected: str) -> None:
    assert str(error) == expected


def test_a_timeout_names_its_last_cause() -> None:
    error = OperationTimeoutError("describe_acls", node=4)
    error.__cause__ = NotControllerError("Not me.", node=4)
    assert str(error) == (
        "describe_acls timed out [node 4, last cause: NotControllerError: NOT_CONTROLLER (41): Not me. [node 4]]"
    )


def test_words_of_a_broker_cannot_steer_a_terminal() -> None:
    assert str(TopicAlreadyExistsError("a\x1b[2J\nb\u202eé")) == r"TOPIC_ALREADY_EXISTS (36): a\x1b[2J\nb\u202eé"


ERRORS = [
    TopicAlreadyExistsError("Topic 'a' already exists.", node=1, attempts=2, throttle_ms=3, outcome_unknown=True),
    UnrecognizedCodeError(999, "New.", node=7),
    DisconnectedError("Gone.", node=1),
    ConnectionFailedError("Refused."),
    OperationTimeoutError("create_topics", "after 30.0 s", attempts=3),
    BrokenStreamError("Correlation id 7 was never sent.", node=2),
    ClosedError(),
]


def _pickled(error: KafkaError) -> KafkaError:
    made = pickle.loads(pickle.dumps(error))  # noqa: S301 - of this test
    assert isinstance(made, KafkaError)
    return made


@pytest.mark.parametrize("duplicate", [_pickled, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_travels_whole(error: KafkaError, duplicate: Callable[[KafkaError], KafkaError]) -> None:
    error = copy.copy(error)
    error.__cause__ = OSError(111, "refused")
    error.add_note("seen from here")

    made = duplicate(error)

    assert type(made) is type(error)
    assert (str(made), repr(made), made.args) == (str(error), repr(error), error.args)
    assert vars(made) == vars(error)
    assert isinstance(made.__cause__, OSError)
    assert made.__cause__.args == (111, "refused")


def test_errors_have_the_classes_that_programs_catch() -> None:
    assert issubclass(ApiError, KafkaError)
    assert issubclass(UnrecognizedCodeError, ApiError)
    assert issubclass(DisconnectedError, ConnectionError)
    assert issubclass(ConnectionFailedError, ConnectionError)
    assert issubclass(OperationTimeoutError, TimeoutError)


@pytest.mark.parametrize(
    ("error", "retriable"),
    [
        (DisconnectedError, True),
        (ConnectionFailedError, True),
        (OperationTimeoutError, True),
        (NotControllerError, True),
        (UnrecognizedCodeError, False),
        (TopicAlreadyExistsError, False),
        (BrokenStreamError, False),
        (ClosedError, False),
    ],
)
def test_the_class_says_whether_an_error_is_retriable(error: type[KafkaError], retriable: bool) -> None:
    assert error.retriable is retriable
