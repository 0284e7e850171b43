"""What an installation with some extras can do, and what it says of the rest."""

from __future__ import annotations

from dataclasses import dataclass, field

LOG_PROGRAM = """
import asyncio
from pathlib import Path
from kafkawire.admin import AclBinding, AclOperation, AdminClient, NewTopic, ResourceType
from kafkawire.broker import EmbeddedBroker

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

async def make_log():
    async with (
        EmbeddedBroker(SETTINGS, data_dir=Path("data")) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        (await admin.create_topics([NewTopic("orders", num_partitions=1)])).all()
        (await admin.create_acls([AclBinding(ResourceType.TOPIC, "orders", "User:ann", AclOperation.READ)])).all()

asyncio.run(make_log())
"""
"""What every installation can do: administer a broker that keeps its state in the folder ``data``."""

TABLES_PROGRAM = """
import importlib, pkgutil
import kafkawire.report
from kafkawire.logs import read_table

for found in pkgutil.walk_packages(kafkawire.report.__path__, "kafkawire.report."):
    importlib.import_module(found.name)
print([row["principal"] for batch in read_table("acl_history", "data") for row in batch.to_pylist()])
"""

SPARK_PROGRAM = """
from pathlib import Path
from pyspark.sql import SparkSession

settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.log.level": "ERROR"}
spark = SparkSession.Builder().master("local[1]").config(map=settings).getOrCreate()
acls = spark.read.format("kafka-log").option("table", "acl_history").load(str(Path("data").resolve()))
print([row.principal for row in acls.select("principal").collect()])
stream = spark.readStream.format("kafka-log").option("table", "records").load(str(Path("data").resolve()))
query = stream.writeStream.format("memory").queryName("rows").trigger(availableNow=True).start()
query.awaitTermination()
print(spark.table("rows").where("record_type = 'TOPIC_RECORD'").count())
"""

PYTEST_PROGRAM = """
from hypothesis import given
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.wire.strategies import messages

@given(messages(CreateTopicsRequest, 7))
def test_round_trip(message):
    assert CreateTopicsRequest.decode(message.encode(7), 7) == message

def test_broker(kafka_broker):
    assert kafka_broker.bootstrap_servers
"""

CODEC_LINE = '{"name": "ApiVersionsRequest", "version": 3, "hex": "04617070023100"}\n'


@dataclass(frozen=True)
class Command:
    """A command that works.

    Attributes:
        words: after ``kafkawire``, or the whole command line if the first word is ``python``.
        prints: a part of what it prints.
        text: its standard input.
    """

    words: tuple[str, ...]
    prints: str
    text: str | None = None


@dataclass(frozen=True)
class Combination:
    """An installation.

    Attributes:
        extras: their names.
        works: the commands that it must be able to carry out, in a folder with a log in ``data``.
        asks_for: words of commands that it cannot carry out, and the extras that they ask for.
        lacks: modules that must not be there.
    """

    extras: tuple[str, ...]
    works: tuple[Command, ...] = ()
    asks_for: dict[tuple[str, ...], str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()


CLI = (
    Command(("--version",), "kafkawire "),
    Command(("--help",), "broker"),
    Command(("codec", "decode"), '"clientSoftwareName": "app"', CODEC_LINE),
    Command(("schema", "lint", "definitions"), ""),
    Command(("schema", "diff", "definitions", "definitions"), ""),
    Command(("schema", "check", "definitions", "definitions"), ""),
    Command(("broker", "--help"), "--data-dir"),
)
TABLES = (
    Command(("tables", "--list"), "acl_history"),
    Command(("tables", "--log", "data", "--table", "acl_history"), "User:ann"),
    Command(("report", "logs", "data", "--out", "report.html"), ""),
)
GENERATE = (Command(("generate", "--specs", "definitions", "--package", "acme.proto", "--out", "made"), ""),)
PART_OF_DEMO = Command(("demo", "--out", "shown"), "One command installs what is missing: pip install 'kafkawire[all]'")
WHOLE_DEMO = Command(("demo", "--out", "shown"), "The report, for your browser:")
LOGS = Command(("python", "-c", TABLES_PROGRAM), "['User:ann']")
SPARK = Command(("python", "-c", SPARK_PROGRAM), "['User:ann']\n1\n")
TESTS = Command(("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_program.py"), "2 passed")
NO_CLI: dict[tuple[str, ...], str] = {("codec", "decode"): "cli", ("tables", "--list"): "cli"}
NO_TABLES = {("tables", "--list"): "cli,tables", ("report", "logs", "data", "--out", "r.html"): "cli,tables"}
NO_CODEGEN = {GENERATE[0].words: "cli,codegen"}
NO_SPARK: dict[tuple[str, ...], str] = {("spark", "bundle", "kafkawire.zip"): "cli,spark"}

COMBINATIONS = (
    Combination(
        (), (), NO_CLI, ("typer", "rich", "pyarrow", "pyspark", "jinja2", "markupsafe", "hypothesis", "pytest")
    ),
    Combination(
        ("codegen",),
        (Command(("python", "-c", "from kafkawire.codegen.generate import generate; print('there')"), "there"),),
        NO_CLI,
        ("typer", "pyarrow", "pyspark"),
    ),
    Combination(
        ("cli",),
        (*CLI, PART_OF_DEMO),
        NO_TABLES | NO_CODEGEN | NO_SPARK,
        ("jinja2", "pyarrow", "pyspark", "ruff"),
    ),
    Combination(("tables",), (LOGS,), NO_CLI, ("typer", "ruff", "pyspark")),
    Combination(("test",), (TESTS,), NO_CLI, ("typer", "pyarrow", "jinja2")),
    Combination(("cli", "tables"), CLI + TABLES + (LOGS,), NO_CODEGEN | NO_SPARK, ("ruff", "pyspark")),
    Combination(("cli", "codegen"), (*CLI, *GENERATE, PART_OF_DEMO), NO_TABLES | NO_SPARK, ("pyarrow", "pyspark")),
    Combination(("spark",), (SPARK,), NO_CLI, ("typer", "jinja2", "ruff")),
    Combination(
        ("all",),
        CLI + TABLES + GENERATE + (WHOLE_DEMO, LOGS, SPARK, TESTS, Command(("spark", "tables", "--help"), "--table")),
    ),
)
