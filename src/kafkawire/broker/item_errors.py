"""Errors of single items of a request, while the other items are carried out."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.kafka_errors import ApiError

_log = logging.getLogger(__name__)


class ItemError(Exception):
    """An item of a request is refused.

    Attributes:
        code: the error code in the response.
        message: its text; None where Kafka has none.
    """

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message

    def as_result(self) -> Self:
        """The error without its traceback, whose frames would take much memory in thousands of results."""
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
    """The error of an item for an exception, such as one that a plug-in raised (B4).

    An error of the protocol keeps its code and text. Any other exception is a defect: it is logged, and the client gets
    UNKNOWN_SERVER_ERROR.

    Args:
        error: the exception.
        doing: what was done, for the log.
    """
    match error:
        case ItemError():
            return error
        case ApiError() if error.code != ErrorCode.UNKNOWN_SERVER_ERROR:
            return ItemError(error.code, error.message or None)
    _log.error("A defect while %s", doing, exc_info=error)
    return ItemError(ErrorCode.UNKNOWN_SERVER_ERROR)
