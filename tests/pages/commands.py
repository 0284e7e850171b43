"""The commands that pages print for a reader's own machine, proven with stand-ins for what is there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.pages.page import blocks
from tests.pages.proofs import ROOT

LOGS = ROOT / "tests" / "fixtures" / "kafka-4.3.1" / "logs"

STAND_INS = {
    "/var/lib/kafkawire": "state",
    "/run/kafkawire/address": "address",
    "/var/lib/kafka/data": "data",
    "/var/lib/kafka": "data",
    "/evidence/": "",
    "--port 9092": "--port 0",  # any free port
    "2026-03-01T00:00Z": "2026-11-21T08:37:00Z",  # the logs of the tests begin later
    "2026-03-08T00:00Z": "2026-11-21T08:37:25Z",
    "s3a://bucket/commits": "commits",  # Spark writes there with Hadoop's library for S3, which takes 600 MB
}
"""What tests put in place of what is printed, in this order.

``data`` has the logs of a real broker, ``broker-1`` to ``broker-3`` have copies of them.
"""

BROKER = "localhost:9092"
"""A broker of the reader; tests start one."""

ONLY_PARSED = {
    "kafkawire acls": "the broker of the pages has no authorizer; tests/unit/cli/acls",
    "kafkawire apply": "asks, and the broker of the pages has no authorizer; tests/unit/cli/state/test_apply.py",
    "kafkawire demo": "tests/golden/test_demo.py runs it",
    "kafkawire tokens": "the broker of the pages has no logins; tests/interop/cli/test_tokens.py",
    "kafkawire transactions": "the broker of the pages has none of these; tests/interop/cli/test_transactions.py",
    "kafkawire specs add": "downloads the jars of a release that Apache Kafka has not published yet",
    "kafkawire specs import": "downloads the jars of all releases and writes specs/ of the source tree",
}
"""Beginnings of commands that tests do not run, and why. Their options are checked."""

WITH_SPARK = re.compile(r"kafkawire spark |.*\bs3a?://|spark-submit ")
"""Commands that tests/interop/spark/test_printed_commands.py runs, with Spark and a server of S3's protocol."""

FINDINGS = {
    "kafkawire schema check kafka:3.9.2 kafka:4.3.1": 1,
    "kafkawire plan cluster.yaml -b localhost:9092 --exit-code": 4,
}
"""Commands that find something, and the code that they end with."""

_DEFINITION = """{
  "type": "data", "name": "Ping", "validVersions": "0", "flexibleVersions": "none",
  "fields": [{ "name": "Sent", "type": "int64", "versions": "0+", "about": "When, in milliseconds." }]
}
"""
_REPOSITORY = """
git init -q -b main origin
mkdir origin/definitions origin/specs
cp Ping.json origin/definitions
cp Ping.json origin/specs
git -C origin add -A
git -C origin commit -qm one
git clone -q "file://$PWD/origin" clone
"""


def lines_of(page: Path) -> Iterator[str]:
    """The commands in the ``sh`` blocks of a page, without comments."""
    for block in blocks(page.read_text()):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                command = re.sub(r"\s+# .*|^# .*", "", line).strip()
                if command:
                    yield command


def with_stand_ins(line: str) -> str:
    """The command as tests run it."""
    for printed, used in STAND_INS.items():
        line = line.replace(printed, used)
    return line


@dataclass(frozen=True)
class Workplace:
    """A folder in which the printed commands work: a clone of a repository with definitions, and logs in ``data``.

    Attributes:
        folder: the clone.
        programs: the folder of the program ``kafkawire`` that is run.
    """

    folder: Path
    programs: Path

    @classmethod
    def made_in(cls, folder: Path, programs: Path) -> Workplace:
        """Make it in an empty folder."""
        (folder / "Ping.json").write_text(_DEFINITION)
        made = cls(folder / "clone", programs)
        done = subprocess.run(
            ["sh", "-e", "-c", _REPOSITORY],
            cwd=folder,
            env=made.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (made.folder / "data").symlink_to(LOGS)
        for number in (1, 2, 3):
            shutil.copytree(LOGS, made.folder / f"broker-{number}")
        return made

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the commands."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT", "PYTHON", "COVERAGE"))}
        kept |= {"HOME": str(self.folder.parent), "SHELL": "/bin/bash"}
        author = {f"GIT_{role}_{what}": "a" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return {**kept, **author, "PATH": os.pathsep.join([str(self.programs), os.environ["PATH"]])}

    def write_files(self, page: Path) -> None:
        """Write the files with items that a page shows, which its commands read."""
        for block in blocks(page.read_text()):
            if block.language in {"yaml", "text"} and block.title and not block.title.startswith("."):
                (self.folder / block.title).write_text(block.text, "utf-8")

    def run(self, line: str, before: Sequence[str] = (), broker: str | None = None) -> None:
        """Run a printed command, which must end as a reader expects.

        Args:
            line: as printed.
            before: lines that set options and variables of the shell for it.
            broker: the address of a broker in place of the reader's.
        """
        used = with_stand_ins(line).replace(BROKER, broker or BROKER)
        if used.startswith("kafkawire broker "):
            self._serve(used)
            return
        script = "\n".join([*before, used])
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == FINDINGS.get(line, 0), f"{line}\n{done.stdout}{done.stderr}"
        if "--out" in shlex.split(used):
            words = shlex.split(used)
            assert (self.folder / words[words.index("--out") + 1]).exists()

    def _serve(self, line: str) -> None:
        """Run a command that serves until it is stopped; its ready file says when it serves."""
        words = shlex.split(line)
        ready = self.folder / words[words.index("--ready-file") + 1]
        started = subprocess.Popen(
            [self.programs / words[0], *words[1:]],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            end = time.monotonic() + 30
            while not ready.exists() and started.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            served = ready.exists()
        finally:
            started.send_signal(signal.SIGTERM)
            printed, _ = started.communicate(timeout=30)
        assert served, printed
        assert started.returncode == 0, printed
