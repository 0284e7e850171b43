"""What works on Windows as far as it can be shown without it: in processes that lack what Windows lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.extended

BROKER = """
    import asyncio
    from pathlib import Path
    from kafkawire.admin import AdminClient, NewTopic
    from kafkawire.broker import EmbeddedBroker

    async def topics(data_dir, *names):
        async with EmbeddedBroker(data_dir=data_dir) as broker, AdminClient(broker.bootstrap_servers) as admin:
            if names:
                (await admin.create_topics([NewTopic(name, num_partitions=1) for name in names])).all()
            return sorted(await admin.list_topics())
"""


def on_windows(program: str, folder: Path, root: Path) -> str:
    """What a program prints that finds what it would find on Windows."""
    source = "from tests.stand_ins.windows import pretend\npretend()\n" + program
    environment = {**os.environ, "PYTHONPATH": str(root)}
    ran = subprocess.run(
        [sys.executable, "-c", source], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def program() -> str:
    return dedent(BROKER)


def test_every_module_can_be_imported(root: Path, tmp_path: Path) -> None:
    """Spark's own modules are left out: they import PySpark, which needs more than Python on Windows."""
    everything = dedent("""
        import importlib, pkgutil
        import jinja2, hypothesis, pytest
        import kafkawire
        left_out = ("kafkawire.spark", "kafkawire.protocol")
        for found in pkgutil.walk_packages(kafkawire.__path__, "kafkawire."):
            if not found.name.startswith(left_out) and not found.name.endswith("__main__"):
                importlib.import_module(found.name)
        print("imported")
    """)
    assert on_windows(everything, tmp_path, root) == "imported\n"


@pytest.mark.nightly  # a minute; the tests below find most of what it finds
def test_types_hold_on_windows_too(root: Path, tmp_path: Path) -> None:
    """The type checker finds what a module of the standard library lacks there."""
    mypy = [sys.executable, "-m", "mypy", "--platform", "win32", "--cache-dir", str(tmp_path), "src", "generator"]
    ran = subprocess.run(mypy, cwd=root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_a_broker_without_a_directory_serves_clients(program: str, root: Path, tmp_path: Path) -> None:
    asked = program + 'print(asyncio.run(topics(None, "orders")))'
    assert on_windows(asked, tmp_path, root) == "['orders']\n"


def test_a_broker_keeps_its_state_in_a_directory_that_it_alone_uses(program: str, root: Path, tmp_path: Path) -> None:
    asked = program + dedent("""
        from kafkawire.broker import StorageError

        data = Path("data")
        asyncio.run(topics(data, "orders"))
        print(asyncio.run(topics(data, "bills")))

        async def two_at_once():
            async with EmbeddedBroker(data_dir=data):
                try:
                    await EmbeddedBroker(data_dir=data).start()
                except StorageError as error:
                    print(error)

        asyncio.run(two_at_once())
        print(asyncio.run(topics(data)))
    """)
    assert on_windows(asked, tmp_path, root).splitlines() == [
        "['bills', 'orders']",
        "data: another broker uses the directory (.lock is locked); stop it, or use another one",
        "['bills', 'orders']",
    ]


def test_logs_are_found_and_read_by_paths_with_backslashes(program: str, root: Path, tmp_path: Path) -> None:
    read = program + dedent(r"""
        from kafkawire.logs import read_table

        asyncio.run(topics(Path("data"), "orders"))
        for path in ("data", r".\data\__cluster_metadata-0", r"data\*", r"data\__cluster_metadata-0\%020d.log" % 0):
            rows = [row for batch in read_table("records", path) for row in batch.to_pylist()]
            topics_of_path = [row["json"] for row in rows if row["record_type"] == "TOPIC_RECORD"]
            print(rows[0]["file"], len(rows[0]["cluster"]), len(topics_of_path), "orders" in topics_of_path[0])
    """)
    segment = "data/__cluster_metadata-0/00000000000000000000.log"
    shown = [f"{path} 22 1 True" for path in (segment, f"./{segment}", segment, segment)]
    assert on_windows(read, tmp_path, root).splitlines() == shown


def test_the_command_stops_on_ctrl_c(root: Path, tmp_path: Path) -> None:
    serve = dedent("""
        import os, signal, threading, time
        from pathlib import Path
        from kafkawire.cli.app import main

        def stop_it():
            while not Path("ready").exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=stop_it, daemon=True).start()
        code = main(["broker", "--port", "0", "--data-dir", "data", "--ready-file", "ready"])
        print("exit code", int(code))
    """)
    assert on_windows(serve, tmp_path, root).splitlines()[1:] == ["exit code 130"]
