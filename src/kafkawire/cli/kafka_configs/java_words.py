"""Errors as Java prints them, without the places in its code."""

from __future__ import annotations

import socket
from typing import Final

from kafkawire.cli.access.advice import in_words_of_the_command
from kafkawire.protocol.errors import (
    MismatchedEndpointTypeError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import ApiError, KafkaError, OperationTimeoutError

_EXECUTION: Final = "java.util.concurrent.ExecutionException"
_PACKAGE: Final = "org.apache.kafka.common.errors"
_CLIENT_FAILURE: Final = "org.apache.kafka.common.KafkaException"
_NAMES: Final = {
    "ClusterAuthorizationFailedError": "ClusterAuthorizationException",
    "DelegationTokenAuthorizationFailedError": "DelegationTokenAuthorizationException",
    "GroupAuthorizationFailedError": "GroupAuthorizationException",
    "InvalidConfigError": "InvalidConfigurationException",
    "OperationTimeoutError": "TimeoutException",
    "PrincipalDeserializationFailureError": "PrincipalDeserializationException",
    "RequestTimedOutError": "TimeoutException",
    "SaslAuthenticationFailedError": "SaslAuthenticationException",
    "StaleControllerEpochError": "ControllerMovedException",
    "TopicAuthorizationFailedError": "TopicAuthorizationException",
}
"""Classes whose names in Java's client do not follow from those of the errors, of errors that these calls may have."""

_CALLS: Final = {"describe_cluster": "listNodes", "list_groups": "findAllBrokers"}
"""Operation to the name of Java's call, where it is another."""

_NO_NAMES: Final = (
    f"{_CLIENT_FAILURE}: Failed to create new KafkaAdminClient\n"
    "Caused by: org.apache.kafka.common.config.ConfigException: "
    "No resolvable bootstrap urls given in bootstrap.servers"
)
_NO_BROKER_API: Final = "The node does not support METADATA"
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


class GroupsNotListedError(KafkaError):
    """Java's client finds all brokers before it lists groups; its error wraps why it cannot, which is the cause."""


def exception_name(error: KafkaError) -> str:
    """The name of the class of an error in Java's client."""
    if not isinstance(error, (ApiError, OperationTimeoutError)):
        return _CLIENT_FAILURE
    if is_of_controllers(error):
        return f"{_PACKAGE}.UnsupportedVersionException"
    name = type(error).__name__
    return f"{_PACKAGE}.{_NAMES.get(name) or name.removesuffix('Error') + 'Exception'}"


def java_exception(error: KafkaError) -> str:
    """An error as Java prints it."""
    return f"{exception_name(error)}: {java_message(error)}"


def java_message(error: KafkaError) -> str:
    """The text of an error: of an answer, the broker's."""
    if isinstance(error, UnsupportedEndpointTypeError):
        return _NO_CONTROLLER_API
    if isinstance(error, OperationTimeoutError):
        return f"Timed out waiting for a node assignment. Call: {_call(error.operation)}"
    if not isinstance(error, ApiError):
        return in_words_of_the_command(str(error))
    if is_of_controllers(error):
        return _NO_BROKER_API
    return error.message or _WITHOUT_TEXT.get(type(error).__name__, "")


def failed_call(error: KafkaError) -> str:
    """What Java prints of a failed call."""
    if _is_unresolved(error):
        return _NO_NAMES
    if isinstance(error, GroupsNotListedError) and isinstance(error.__cause__, KafkaError):
        wrapping = f"{_CLIENT_FAILURE}: Failed to find brokers to send ListGroups"
        return f"{_EXECUTION}: {wrapping}\nCaused by: {wrapping}\nCaused by: {java_exception(error.__cause__)}"
    text = java_exception(error)
    return f"{_EXECUTION}: {text}\nCaused by: {text}"


def _call(operation: str) -> str:
    first, *others = operation.split("_")
    return _CALLS.get(operation) or "".join((first, *(each.capitalize() for each in others)))


def is_of_controllers(error: KafkaError) -> bool:
    """Whether the client itself found that a node is a controller; a broker that says what it is not, has a node."""
    return isinstance(error, MismatchedEndpointTypeError) and isinstance(error.__cause__, UnsupportedVersionError)


def _is_unresolved(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, socket.gaierror):
            return True
        error = error.__cause__
    return False
