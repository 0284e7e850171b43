"""Why a command line is refused, and why a command fails: the text of Apache's tool, and ours."""

from __future__ import annotations


class RefusedError(Exception):
    """The words are refused. Neither text contains a value that may be secret.

    Attributes:
        of_kafka: the text of Apache's tool.
        ours: what is wrong and what to do.
        shows_usage: whether Apache's tool prints all its options after the text.
    """

    def __init__(self, of_kafka: str, ours: str | None = None, *, shows_usage: bool = False) -> None:
        self.of_kafka = of_kafka
        self.ours = of_kafka if ours is None else ours
        self.shows_usage = shows_usage
        super().__init__(self.ours)


class JavaFailureError(Exception):
    """Apache's tool prints the words and the exception of Java at this place.

    Attributes:
        exception: as Java prints it, without the places in its code.
        ours: what is wrong and what to do.
    """

    def __init__(self, exception: str, ours: str) -> None:
        self.exception = exception
        self.ours = ours
        super().__init__(ours)
