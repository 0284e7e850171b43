"""The oracle: a Java process that says what Apache Kafka's own classes make of bytes and of JSON.

Its questions and answers are JSON lines; ``tests/conformance/java/oracle/Oracle.java`` documents them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import msgspec
from tests.apache_kafka.prerequisites import java, program
from tests.apache_kafka.releases import CACHE, class_path, one_process_at_a_time

_SOURCES = Path(__file__).parents[1] / "conformance" / "java"
_FAST_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx1g")
_SECONDS_TO_END = 10


class Classes(msgspec.Struct, frozen=True, tag_field="op", tag="classes"):
    """Which message classes the release has."""


class Apis(msgspec.Struct, frozen=True, tag_field="op", tag="apis"):
    """Which APIs the release has."""


class RecordTypes(msgspec.Struct, frozen=True, tag_field="op", tag="record_types"):
    """Which record types the logs of the release have."""


class Default(msgspec.Struct, frozen=True, tag_field="op", tag="default"):
    """What a message is whose fields nobody has set, but for some that are null and for unknown tagged fields.

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


class OracleDiedError(Exception):
    """The Java process has ended although there were questions; the message is what it printed."""


class Oracle:
    """A running Java process with the classes of one release."""

    def __init__(
        self, release: str, process: subprocess.Popen[bytes], errors: BinaryIO, other_thread: ThreadPoolExecutor
    ) -> None:
        self.release = release
        self._process = process
        self._errors = errors
        self._other_thread = other_thread
        self._decoder = msgspec.json.Decoder(Answer)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers to questions, in their order; questions and answers pass each other on the way."""
        answers = self._process.stdout
        assert answers is not None
        sent = self._other_thread.submit(self._send, questions)
        lines = [answers.readline() for _ in questions]
        sent.result()
        if not all(lines):
            self._errors.seek(0)
            raise OracleDiedError(self._errors.read().decode(errors="replace"))
        return [self._decoder.decode(line) for line in lines]

    @cached_property
    def classes(self) -> dict[str, JavaClass]:
        """The message classes of the release, by their Java names."""
        (answer,) = self.ask([Classes()])
        assert answer.classes is not None, answer.error
        return answer.classes

    def _send(self, questions: Sequence[Question]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(msgspec.json.Encoder().encode_lines(questions))
            pipe.flush()
        except BrokenPipeError:
            return  # the reader sees the end of the answers and says why


@contextmanager
def running_oracle(release: str) -> Iterator[Oracle]:
    """Start the oracle for a release; it ends with the context."""
    jars = class_path(release)
    path = os.pathsep.join(str(entry) for entry in (_compiled(release, jars), *jars))
    command = [java(), *_FAST_START, "-cp", path, "oracle.Oracle"]
    with (
        tempfile.TemporaryFile() as errors,
        ThreadPoolExecutor(1) as other_thread,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            yield Oracle(release, process, errors, other_thread)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(timeout=_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()


def _compiled(release: str, jars: Sequence[Path]) -> Path:
    """The folder of the compiled oracle; compiled anew when its sources or the jars are other ones."""
    sources = sorted(_SOURCES.rglob("*.java"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    digest.update("".join(str(jar) for jar in jars).encode())
    target = CACHE / f"oracle-{release}-{digest.hexdigest()[:12]}"
    with one_process_at_a_time():
        if not target.is_dir():
            _compile(sources, jars, target)
    return target


def _compile(sources: Sequence[Path], jars: Sequence[Path], target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        classes = Path(work) / "classes"
        command = [program("javac"), "-Xlint:all", "-Werror", "-proc:none", "-d", str(classes)]
        command += ["-cp", os.pathsep.join(map(str, jars)), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        classes.rename(target)
