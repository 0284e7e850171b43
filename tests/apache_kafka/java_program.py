"""Java programs of the tests: compiled once against the jars of a release, and used with JSON lines."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
from tests.apache_kafka.maven import CACHE, one_process_at_a_time
from tests.apache_kafka.prerequisites import java, java_version, program
from tests.apache_kafka.releases import class_path

FAST_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
"""Options for processes that start often and live for a short time."""

QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
"""Only warnings and errors are printed."""

_SECONDS_TO_END = 10


class JavaProgramDiedError(Exception):
    """The Java process has ended although there were questions; the message is what it printed."""


class JavaProgram:
    """A running Java process that answers each line with a line."""

    def __init__(self, process: subprocess.Popen[bytes], errors: BinaryIO, other_thread: ThreadPoolExecutor) -> None:
        self._process = process
        self._errors = errors
        self._other_thread = other_thread

    def ask(self, questions: Sequence[msgspec.Struct]) -> list[bytes]:
        """The answers to questions, in their order; questions and answers pass each other on the way.

        Raises:
            JavaProgramDiedError: if the process has ended.
        """
        answers = self._process.stdout
        assert answers is not None
        sent = self._other_thread.submit(self._send, questions)
        lines = [answers.readline() for _ in questions]
        sent.result()
        if not all(lines):
            self._errors.seek(0)
            raise JavaProgramDiedError(self._errors.read().decode(errors="replace"))
        return lines

    def _send(self, questions: Sequence[msgspec.Struct]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(msgspec.json.Encoder().encode_lines(questions))
            pipe.flush()
        except BrokenPipeError:
            return  # the reader sees the end of the answers and says why


@contextmanager
def running_program(
    release: str,
    sources: Path,
    main: str,
    *,
    heap: str,
    options: Sequence[str] = FAST_START,
    arguments: Sequence[str] = (),
) -> Iterator[JavaProgram]:
    """Start a program with the classes of a release; it ends with the context.

    Args:
        release: of Apache Kafka.
        sources: the folder of its sources.
        main: its main class.
        heap: the most memory that it may use, as Java writes it.
        options: further options of the Java machine.
        arguments: of the program.
    """
    command = [*java_command(release, heap, [compiled(release, sources)], options), main, *arguments]
    with (
        tempfile.TemporaryFile() as errors,
        ThreadPoolExecutor(1) as other_thread,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            yield JavaProgram(process, errors, other_thread)
        finally:
            _end(process)


def java_command(
    release: str, heap: str, plugins: Sequence[Path] = (), options: Sequence[str] = FAST_START
) -> list[str]:
    """The beginning of a command line: a class of a release and its arguments follow.

    Args:
        release: of Apache Kafka.
        heap: the most memory that it may use, as Java writes it.
        plugins: folders with further classes.
        options: further options of the Java machine; with those that make it start fast, it starts from what nodes
            have loaded.
    """
    path = os.pathsep.join(map(str, (*class_path(release), *plugins)))
    classes = loaded_classes(release)
    shared = [f"-XX:SharedArchiveFile={classes}"] if options == FAST_START and classes.is_file() else []
    return [java(), *options, *shared, f"-Xmx{heap}", QUIET, "-cp", path]


def loaded_classes(release: str) -> Path:
    """Where the classes lie that a node loads, as Java has them in memory: with them a start takes half the time.

    The first node that is stopped writes the file. Java leaves it alone if it does not fit.
    """
    fits = hashlib.sha256(f"{java_version(java())}{class_path(release)}".encode()).hexdigest()[:12]
    return CACHE / f"{release}-{fits}.jsa"


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(timeout=_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()


def compiled(release: str, folder: Path) -> Path:
    """The folder with the compiled sources of a folder, for a release of Apache Kafka; see ``compiled_beside``."""
    return compiled_beside(class_path(release), folder, release)


def compiled_beside(jars: Sequence[Path], folder: Path, release: str, lint: str = "all") -> Path:
    """The folder with the compiled sources of a folder and their resources; made again when they or the jars change.

    Args:
        jars: the class path.
        folder: the sources; properties and ``META-INF`` are resources.
        release: of Apache Kafka.
        lint: the warnings that fail it, as javac names them.
    """
    sources = sorted(folder.glob("*.java"))
    resources = sorted(path for path in (*folder.glob("*.properties"), *folder.glob("META-INF/**/*")) if path.is_file())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in (*sources, *resources)))
    digest.update("".join(str(jar) for jar in jars).encode())
    target = CACHE / f"{folder.name}-{release}-{digest.hexdigest()[:12]}"
    with one_process_at_a_time():
        if not target.is_dir():
            with tempfile.TemporaryDirectory(dir=CACHE) as work:
                classes = Path(work) / "classes"
                _compile(sources, jars, classes, lint)
                for path in resources:
                    copy = classes / path.relative_to(folder)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copy)
                classes.rename(target)
    return target


def _compile(sources: Sequence[Path], jars: Sequence[Path], classes: Path, lint: str) -> None:
    command = [program("javac"), *(f"-J{option}" for option in FAST_START)]
    command += [f"-Xlint:{lint}", "-Werror", "-proc:none", "-d", str(classes)]
    command += ["-cp", os.pathsep.join(map(str, jars)), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
