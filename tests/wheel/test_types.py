"""Type checkers see the types of the installed wheel as they see those of the sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.repo.test_pyright import ENVIRONMENT, Report, pyright_command
from tests.wheel.conftest import Install
from tests.wheel.environments import Installed, environment_of
from tests.wheel.test_installed import first_example

pytestmark = pytest.mark.extended

PROGRAMS = {
    "administration.py": """
from kafkawire.admin import AclBinding, AclBindingFilter, AdminClient, BlockingAdminClient, NewTopic, Results
from kafkawire.admin import AclOperation, ResourceType


async def create(address: str) -> tuple[str, ...]:
    async with AdminClient(address) as admin:
        created = await admin.create_topics([NewTopic("orders", num_partitions=6)])
        created.all()
        acl = AclBinding(ResourceType.TOPIC, "orders", "User:ann", AclOperation.READ)
        (await admin.create_acls([acl])).all()
        found: Results[AclBindingFilter, tuple[AclBinding, ...]] | None = None
        assert found is None
        return tuple(sorted(await admin.list_topics()))


def names(address: str) -> list[str]:
    with BlockingAdminClient(address) as admin:
        return sorted(admin.list_topics())
""",
    "brokers.py": """
from pathlib import Path

from kafkawire.broker import EmbeddedBroker, Fault, ManualClock, ThreadedBroker


async def serve(folder: Path) -> str:
    async with EmbeddedBroker({"num.partitions": "3"}, data_dir=folder) as broker:
        return broker.bootstrap_servers


def test_with_the_plugin(kafka_broker: ThreadedBroker, kafka_broker_clock: ManualClock) -> None:
    assert kafka_broker.bootstrap_servers
    assert kafka_broker_clock is not None
    assert Fault.__doc__
""",
    "messages.py": """
from kafkawire.protocol import API_TABLE, CreateTopicsRequest, message_class
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import TopicAlreadyExistsError
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.rpc import FrameBuffer, split_frames
from kafkawire.wire import DecodeError, Uuid

topic = CreateTopicsRequest.CreatableTopic(name="orders", num_partitions=6, replication_factor=3)
request = CreateTopicsRequest(topics=(topic,))
body: bytes = request.encode(7)
again: CreateTopicsRequest = CreateTopicsRequest.decode(body, 7)
name: str = again.topics[0].name
topic_id: Uuid = Uuid.random()
frames: list[bytes] = list(split_frames(b""))
known = (API_TABLE, ErrorCode.NONE, TopicAlreadyExistsError, decode_metadata_record, FrameBuffer, DecodeError)
cls = message_class("CreateTopicsRequest")
""",
    "decisions.py": """
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.nodes import bootstrap_nodes
from kafkawire.model.properties_file import parse_properties

properties: str = dict(parse_properties("a=b"))["a"]
nodes = bootstrap_nodes("localhost:9092")
binding: type[AclBinding] = AclBinding
""",
    "logs.py": """
from kafkawire.logs import Accounts, ReadMode, ReadOptions, table_names

options = ReadOptions(mode=ReadMode.FAILFAST)
names: list[str] = list(table_names())
accounts = Accounts()
""",
}
"""Programs of users, by what they are about. Each is right, so type checkers have nothing to say about it."""

MISTAKES = {
    "from kafkawire.admin import NewTopic\nNewTopic('orders', num_partitions='6')\n": "num_partitions",
    "from kafkawire.protocol import CreateTopicsRequest\nCreateTopicsRequest(topic=())\n": "topic",
    "from kafkawire.rpc import split_frames\nwrong: int = split_frames(b'')\n": "Iterator",
}
"""Programs that are wrong, and a word of what a type checker must say."""

PACKAGES = {
    "kafkawire.admin": 77,
    "kafkawire.broker": 81,
    "kafkawire.logs": 84,
    "kafkawire.model": 99,
    "kafkawire.protocol": 82,
    "kafkawire.records": 92,
    "kafkawire.rpc": 80,
    "kafkawire.wire": 98,
}
"""The least percentage of the public names of each package that pyright must find annotated in words.

It infers the types of all others, such as the methods of the blocking client and the constants of messages.
"""

OF_PYARROW = {"kafkawire.logs": 2}
"""How many public names have a type that pyright does not know: pyarrow has no types, and one class extends its own."""


@pytest.fixture
def installed(install: Install) -> Installed:
    """Types are checked where the libraries are that the programs use."""
    return install("tables", "test")


@pytest.fixture
def programs(root: Path, tmp_path: Path) -> list[str]:
    """The programs, and the example that the README begins with, in the folder of the test."""
    for name, text in {**PROGRAMS, "readme.py": first_example(root)}.items():
        (tmp_path / name).write_text(text)
    return sorted([*PROGRAMS, "readme.py"])


@pytest.fixture
def mistakes(tmp_path: Path) -> list[str]:
    """The wrong programs, in the folder of the test."""
    names = [f"mistake_{number}.py" for number in range(len(MISTAKES))]
    for name, text in zip(names, MISTAKES, strict=True):
        (tmp_path / name).write_text(text)
    return names


@pytest.mark.extended  # eight seconds; pyright reads the same programs in `make test`
def test_mypy_accepts_programs_and_finds_mistakes(
    installed: Installed, programs: list[str], mistakes: list[str], tmp_path: Path
) -> None:
    options = ["--strict", "--config-file", os.devnull, "--python-executable", str(installed.python)]
    command = [sys.executable, "-m", "mypy", *options, *programs, *mistakes]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.splitlines()
    assert [line for line in said[:-1] if not line.startswith("mistake_")] == []
    for name, expected in zip(mistakes, MISTAKES.values(), strict=True):
        assert any(line.startswith(name) and expected in line for line in said), (name, said)
    assert said[-1].endswith(f"(checked {len(programs) + len(mistakes)} source files)")


@pytest.fixture(scope="module")
def pyright() -> list[str]:
    """The command; the test is skipped where it cannot be had."""
    return pyright_command()


def test_pyright_accepts_programs_and_finds_mistakes(
    pyright: list[str], installed: Installed, programs: list[str], mistakes: list[str], tmp_path: Path
) -> None:
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "include": ["."]}))
    command = [*pyright, "--project", str(tmp_path), "--pythonpath", str(installed.python), "--outputjson"]
    ran = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    report = msgspec.json.decode(ran.stdout, type=Report)
    said = {(Path(found.file).name, found.message) for found in report.general_diagnostics}
    assert {each for each in said if not each[0].startswith("mistake_")} == set()
    for mistake, expected in zip(mistakes, MISTAKES.values(), strict=True):
        assert any(name == mistake and expected in message for name, message in said), expected
    assert report.summary.files_analyzed == len(programs) + len(mistakes)


class Counts(msgspec.Struct, rename="camel"):
    with_unknown_type: int


class Completeness(msgspec.Struct, rename="camel"):
    completeness_score: float
    exported_symbol_counts: Counts


class Verified(msgspec.Struct, rename="camel"):
    type_completeness: Completeness


@pytest.mark.nightly  # two minutes; the programs show the types that people meet
@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_type_is_unknown_and_most_are_annotated(
    pyright: list[str], installed: Installed, package: str, tmp_path: Path
) -> None:
    command = [*pyright, "--verifytypes", package, "--ignoreexternal", "--outputjson"]
    variables = {**environment_of(installed), **ENVIRONMENT, "VIRTUAL_ENV": str(installed.folder)}
    ran = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    found = msgspec.json.decode(ran.stdout, type=Verified).type_completeness
    assert found.exported_symbol_counts.with_unknown_type <= OF_PYARROW.get(package, 0)
    assert 100 * found.completeness_score >= PACKAGES[package]
