"""Tries the installed kafkawire: messages, a broker with a data directory, the admin client, tables and the commands.

It needs the extras cli, codegen and tables, and runs on every system: ``python .ci/try_installation.py``.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from kafkawire.admin import AclBinding, AclOperation, AdminClient, NewTopic, ResourceType
from kafkawire.broker import EmbeddedBroker, StorageError
from kafkawire.logs import read_table
from kafkawire.protocol import CreateTopicsRequest

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


async def make_log(folder: Path) -> None:
    """Make a topic and an ACL; a second broker must not get the same directory."""
    async with EmbeddedBroker(SETTINGS, data_dir=folder) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_topics([NewTopic("orders", num_partitions=1)])).all()
        (await admin.create_acls([AclBinding(ResourceType.TOPIC, "orders", "User:ann", AclOperation.READ)])).all()
        try:
            await EmbeddedBroker(SETTINGS, data_dir=folder).start()
        except StorageError as error:
            print(error)
        else:
            raise RuntimeError("two brokers use one data directory")


async def topics(folder: Path) -> list[str]:
    """The topics of a broker that starts on a directory."""
    async with EmbeddedBroker(SETTINGS, data_dir=folder) as broker, AdminClient(broker.bootstrap_servers) as admin:
        return sorted(await admin.list_topics())


def command(*words: str | Path) -> str:
    """What a command prints; it must end well."""
    program = "import sys; from kafkawire.cli.app import main; sys.exit(main(sys.argv[1:]))"
    line = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def main() -> None:
    """Try everything, and print what came out."""
    request = CreateTopicsRequest(topics=(CreateTopicsRequest.CreatableTopic(name="orders"),))
    if CreateTopicsRequest.decode(request.encode(7), 7) != request:
        raise RuntimeError("a message does not survive the wire")
    with tempfile.TemporaryDirectory() as name:
        data, report = Path(name, "data"), Path(name, "report.html")
        asyncio.run(make_log(data))
        print("topics after a restart:", asyncio.run(topics(data)))
        principals = [row["principal"] for batch in read_table("acl_history", data) for row in batch.to_pylist()]
        print("principals in the log:", principals)
        if principals != ["User:ann"] or "User:ann" not in command("tables", "--log", data, "--table", "acl_history"):
            raise RuntimeError("the ACL is not in the tables")
        command("report", "logs", data, "--out", report)
        print("bytes of the report:", report.stat().st_size)
        command("generate", "--out", Path(name, "generated"))
    print(command("--version").strip(), "works with Python", sys.version.split()[0], "on", sys.platform)


if __name__ == "__main__":
    main()
