"""The names of topics."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.broker.item_errors import ItemError
from kafkawire.protocol.error_codes import ErrorCode

METADATA_TOPIC: Final = "__cluster_metadata"
"""The log of metadata, which cannot be created as a topic."""

OFFSETS_TOPIC: Final = "__consumer_offsets"
"""The topic with the commits of groups."""

TRANSACTIONS_TOPIC: Final = "__transaction_state"
"""The topic with the states of transactions."""

SHARES_TOPIC: Final = "__share_group_state"
"""The topic with what share groups have acknowledged."""

_MAXIMUM_LENGTH: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)


def check_topic_name(name: str) -> None:
    """Validate a name; raise if it is not acceptable.

    Raises:
        ItemError: the name is not legal (B5, 4).
    """
    if not name:
        reason = "the empty string is not allowed"
    elif name in {".", ".."}:
        reason = f"'{name}' is not allowed"
    elif len(name) > _MAXIMUM_LENGTH:
        reason = f"the length of '{name}' is longer than the max allowed length {_MAXIMUM_LENGTH}"
    elif not _LEGAL.fullmatch(name):
        reason = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return
    raise ItemError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def unknown_topic_error(name: str) -> ErrorCode:
    """The error for a topic that does not exist: INVALID_TOPIC_EXCEPTION if its name is not legal."""
    try:
        check_topic_name(name)
    except ItemError:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
