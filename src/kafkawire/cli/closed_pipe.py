"""Standard output whose reader has left, as ``head`` does after its lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kafkawire.cli.standard_streams import discard


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Print what may be without a reader: what the command still has to do goes on, and its exit code stays."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        if not reader_has_left():
            raise


def reader_has_left() -> bool:
    """Whether the pipe of standard output is closed at the other end, as by ``head``; nothing more is written to it."""
    try:
        output = sys.stdout.fileno()
    except (OSError, ValueError):  # standard output is not a file, as in some tests
        return False
    if not _is_closed_at_the_end(output):
        return False
    discard(output)  # the last flush of the interpreter must not fail either
    return True


def _is_closed_at_the_end(output: int) -> bool:
    import select  # noqa: PLC0415 only for this

    is_closed = True
    if sys.platform != "win32":  # which has no poll
        poll = select.poll()
        poll.register(output, 0)
        is_closed = any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    return is_closed
