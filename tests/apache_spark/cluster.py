"""A standalone cluster of Apache Spark on this machine: a master and two workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_program import FAST_START
from tests.apache_kafka.node import HOST, free_ports
from tests.apache_spark.prerequisites import spark_home

WORKERS = 2
_SECONDS_TO_START = 180.0
_SECONDS_TO_STOP = 20.0


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster.

    Attributes:
        master: its address, ``spark://host:port``.
        home: folder of its logs and its workers' files.
    """

    master: str
    home: Path


@contextmanager
def running_spark_cluster(home: Path, python: Path) -> Iterator[SparkCluster]:
    """Start a cluster whose workers use a Python of their own.

    Args:
        home: an empty folder.
        python: the interpreter of the workers.
    """
    (port,) = free_ports(1)
    master = f"spark://{HOST}:{port}"
    with ExitStack() as running:
        running.enter_context(
            _daemon(home / "master.log", ("master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0"))
        )
        eventually(
            lambda: _text(home / "master.log"), lambda text: "New state: ALIVE" in text, seconds=_SECONDS_TO_START
        )
        for number in range(WORKERS):
            size = ("--cores", "1", "--memory", "1g", "--host", HOST, "--webui-port", "0")
            files = ("--work-dir", str(home / f"worker-{number}"))
            log = home / f"worker-{number}.log"
            running.enter_context(_daemon(log, ("worker.Worker", *size, *files, master), python))
        for number in range(WORKERS):
            log = home / f"worker-{number}.log"
            eventually(lambda: _text(log), lambda text: "registered with master" in text, seconds=_SECONDS_TO_START)  # noqa: B023
        yield SparkCluster(master, home)


def kill_an_executor(cluster: SparkCluster) -> None:
    """Kill one of the processes that run the tasks of the job of a cluster; its worker starts another."""
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and _is_executor(process, cluster):
            os.kill(int(process.name), signal.SIGKILL)
            return
    raise AssertionError("the cluster has no executor")


def _is_executor(process: Path, cluster: SparkCluster) -> bool:
    try:
        runs = b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes()
        return runs and (process / "cwd").resolve().is_relative_to(cluster.home)
    except OSError:  # it has ended
        return False


def spark_environment(python: Path) -> Mapping[str, str]:
    """The environment of Spark's programs: nothing of this process's Python except the given interpreter."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPARK", "COV"))}
    return kept | {"PYSPARK_PYTHON": str(python), "SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": HOST}


@contextmanager
def _daemon(log: Path, arguments: tuple[str, ...], python: Path = Path(sys.executable)) -> Iterator[None]:
    script = spark_home() / "bin" / "spark-class"
    name, *rest = arguments
    command = [os.fspath(script), f"org.apache.spark.deploy.{name}", *rest]
    environment = {
        **spark_environment(python),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": " ".join(FAST_START),
    }
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, env=environment) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(_SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()


def _text(log: Path) -> str:
    return log.read_text(errors="replace")
