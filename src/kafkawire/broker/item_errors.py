"""What goes wrong with one item of a request, while the others are carried out."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.kafka_errors import ApiError

__all__ = ["ItemError", "item_error", "item_errors"]

_log = logging.getLogger(__name__)


class ItemError(Exception):
    """An item of a request that is refused.

    Attributes:
        code: what the answer says.
        message: in words; None where Kafka says nothing more.
    """

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message

    def as_result(self) -> Self:
        """The error without the frames that raised it: thousands of results would hold much memory by them."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)


@contextmanager
def item_errors(doing: str) -> Iterator[None]:
    """Turn whatever is raised in the context, such as by a plug-in, into an `ItemError`.

    Args:
        doing: what is done in the context, for the log.

    Raises:
        ItemError: in place of another exception.
    """
    try:
        yield
    except ItemError:
        raise
    except Exception as error:
        raise item_error(error, doing) from error


def item_error(error: Exception, doing: str) -> ItemError:
    """What the answer says if something else than the request was to blame (B4).

    An error of the protocol keeps its code and text. Everything else is a defect: logged here, unknown to clients.

    Args:
        error: what was raised.
        doing: during what, for the log.
    """
    match error:
        case ItemError():
            return error
        case ApiError() if error.code != ErrorCode.UNKNOWN_SERVER_ERROR:
            return ItemError(error.code, error.message or None)
    _log.error("A defect while %s", doing, exc_info=error)
    return ItemError(ErrorCode.UNKNOWN_SERVER_ERROR)
