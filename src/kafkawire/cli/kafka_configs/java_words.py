"""Errors as Java prints them, without the places in its code."""

from __future__ import annotations

from typing import Final

from kafkawire.protocol.errors import UnsupportedEndpointTypeError
from kafkawire.wire.kafka_errors import ApiError, KafkaError, OperationTimeoutError

_PACKAGE: Final = "org.apache.kafka.common.errors"
_NAMES: Final = {
    "InvalidConfigError": "InvalidConfigurationException",
    "FeatureUpdateFailedError": "FeatureUpdateFailedException",
    "NotEnoughReplicasAfterAppendError": "NotEnoughReplicasAfterAppendException",
    "OperationTimeoutError": "TimeoutException",
    "RequestTimedOutError": "TimeoutException",
}
_NO_CONTROLLER_API: Final = (
    "This Admin API is not yet supported when communicating directly with the controller quorum."
)
_WITHOUT_TEXT: Final = {
    "ClusterAuthorizationFailedError": "Cluster authorization failed.",
    "GroupAuthorizationFailedError": "Group authorization failed.",
    "InvalidRequestError": (
        "This most likely occurs because of a request being malformed by the client library or the message was sent to "
        "an incompatible broker. See the broker logs for more details."
    ),
    "TopicAuthorizationFailedError": "Topic authorization failed.",
    "UnknownServerError": "The server experienced an unexpected error when processing the request.",
}
"""What Java's client says of an error for which the broker has no text."""


def exception_name(error: KafkaError) -> str:
    """The name of the class of an error in Java's client."""
    name = type(error).__name__
    return f"{_PACKAGE}.{_NAMES.get(name) or name.removesuffix('Error') + 'Exception'}"


def java_exception(error: KafkaError) -> str:
    """An error as Java prints it."""
    return f"{exception_name(error)}: {java_message(error)}"


def java_message(error: KafkaError) -> str:
    """The text of an error: of an answer, the broker's."""
    if isinstance(error, UnsupportedEndpointTypeError):
        return _NO_CONTROLLER_API
    if not isinstance(error, (ApiError, OperationTimeoutError)):
        return str(error)
    return error.message or _WITHOUT_TEXT.get(type(error).__name__, "")


def failed_call(error: KafkaError) -> str:
    """What Java prints of a failed call."""
    text = java_exception(error)
    return f"java.util.concurrent.ExecutionException: {text}\nCaused by: {text}"
