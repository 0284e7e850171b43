"""``kafkawire.protocol.errors``: an exception for each error code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kafkawire.protocol import errors
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import ERRORS, error_of
from kafkawire.wire.kafka_errors import ApiError, UnrecognizedCodeError


def test_every_code_but_success_has_an_exception() -> None:
    assert set(ERRORS) == {code.value for code in ErrorCode} - {0}
    assert len({error.__name__ for error in ERRORS.values()}) == len(ERRORS)
    for code, error in ERRORS.items():
        known = ErrorCode(code)
        assert issubclass(error, ApiError)
        assert getattr(errors, error.__name__) is error
        assert error.__name__.endswith("Error")
        assert not error.__name__.endswith(("ErrorError", "ExceptionError"))
        assert (error.code, error.NAME) == (code, known.name)
        assert (error.retriable, error.invalid_metadata) == (known.retriable, known.invalid_metadata)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (-1, "UnknownServerError"),
        (17, "InvalidTopicError"),
        (36, "TopicAlreadyExistsError"),
        (41, "NotControllerError"),
        (54, "SecurityDisabledError"),
        (56, "KafkaStorageError"),
        (58, "SaslAuthenticationFailedError"),
    ],
)
def test_a_code_makes_its_exception(code: int, name: str) -> None:
    error = error_of(code, "words")
    assert (type(error).__name__, error.code, error.message) == (name, code, "words")
    assert error_of(code, None).message == ""


def test_a_code_of_a_newer_broker_keeps_its_number() -> None:
    error = error_of(12345, "words")
    assert type(error) is UnrecognizedCodeError
    assert (error.code, error.message, error.retriable) == (12345, "words", False)


def test_success_is_no_error() -> None:
    with pytest.raises(ValueError, match="code 0 is success"):
        error_of(0, None)


def test_exceptions_are_loaded_only_where_they_are_used() -> None:
    program = """
import sys
import kafkawire.protocol
assert "kafkawire.protocol.errors" not in sys.modules
from kafkawire.protocol.errors import error_of
assert not any("error_codes" in name or name.startswith("kafkawire.protocol.clients") for name in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
