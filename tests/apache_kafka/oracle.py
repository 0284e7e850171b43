"""The oracle: a Java process that decodes and encodes bytes and JSON with Apache Kafka's own classes.

Its questions and answers are JSON lines; ``tests/conformance/java/oracle/Oracle.java`` documents them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import msgspec
from tests.apache_kafka.java_program import JavaProgram, running_program

_SOURCES = Path(__file__).parents[1] / "conformance" / "java" / "oracle"


class Classes(msgspec.Struct, frozen=True, tag_field="op", tag="classes"):
    """Which message classes the release has."""


class Apis(msgspec.Struct, frozen=True, tag_field="op", tag="apis"):
    """Which APIs the release has."""


class RecordTypes(msgspec.Struct, frozen=True, tag_field="op", tag="record_types"):
    """Which record types the logs of the release have."""


class Default(msgspec.Struct, frozen=True, tag_field="op", tag="default"):
    """A message with defaults, except some fields that are null, and with unknown tagged fields.

    Attributes:
        name, version: of the message.
        nulls: fields that are set to null, by their JSON names.
        unknown_tags: pairs of a tag and a payload in hexadecimal.
    """

    name: str
    version: int
    nulls: tuple[str, ...] = ()
    unknown_tags: tuple[tuple[int, str], ...] = ()


class Decode(msgspec.Struct, frozen=True, tag_field="op", tag="decode"):
    """What the bytes of a message mean."""

    name: str
    version: int
    hex: str


class Encode(msgspec.Struct, frozen=True, tag_field="op", tag="encode"):
    """What the bytes of a message in its JSON form are."""

    name: str
    version: int
    json: object


Question = Classes | Apis | RecordTypes | Default | Decode | Encode


class Failure(msgspec.Struct, frozen=True):
    """What one of Kafka's classes threw.

    Attributes:
        stage: ``find``, ``read``, ``write``, ``from_json`` or ``to_json``.
        kind: class of the exception.
        message: its message.
    """

    stage: str
    kind: str
    message: str | None = None


class JavaClass(msgspec.Struct, frozen=True):
    """A message class of the release.

    Attributes:
        lowest, highest: its versions.
        json: whether it has a JSON form.
    """

    lowest: int
    highest: int
    json: bool


class JavaApi(msgspec.Struct, frozen=True):
    """An API of the release.

    Attributes:
        name: its name.
        lowest, highest, highest_stable: its versions.
        request_headers, response_headers: version to the version of the header.
        listeners: ``broker``, ``controller``, ``zk_broker``.
    """

    name: str
    lowest: int
    highest: int
    highest_stable: int
    request_headers: dict[int, int]
    response_headers: dict[int, int]
    listeners: tuple[str, ...]


class Answer(msgspec.Struct, frozen=True):
    """An answer of the oracle; what does not apply is None.

    Attributes:
        json: the message in Kafka's JSON form.
        hex: its bytes; in the answer to a ``Decode``, encoded again.
        read: how many bytes were read.
        classes: the message classes of the release by name.
        apis: the APIs of the release by key.
        record_types: by Java package and number of the record type, the names of its messages.
        error: why there is no more of an answer.
    """

    json: object = None
    hex: str | None = None
    read: int | None = None
    classes: dict[str, JavaClass] | None = None
    apis: dict[int, JavaApi] | None = None
    record_types: dict[str, dict[int, tuple[str, ...]]] | None = None
    error: Failure | None = None


class Oracle:
    """A running Java process with the classes of one release."""

    def __init__(self, release: str, program: JavaProgram) -> None:
        self.release = release
        self._program = program
        self._decoder = msgspec.json.Decoder(Answer)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers to questions, in their order; questions and answers pass each other on the way.

        Raises:
            JavaProgramDiedError: if the process has ended.
        """
        return [self._decoder.decode(line) for line in self._program.ask(questions)]

    @cached_property
    def classes(self) -> dict[str, JavaClass]:
        """The message classes of the release, by their Java names."""
        (answer,) = self.ask([Classes()])
        assert answer.classes is not None, answer.error
        return answer.classes


@contextmanager
def running_oracle(release: str) -> Iterator[Oracle]:
    """Start the oracle for a release; it ends with the context."""
    with running_program(release, _SOURCES, "oracle.Oracle", heap="1g") as program:
        yield Oracle(release, program)
