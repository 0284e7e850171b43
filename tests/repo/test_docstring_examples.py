"""The examples in docstrings: every public method of the admin client has one, and they are typed and run."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.made.docstring_examples import ADDRESS, Example, errors_of, examples, prepare

import kafkawire.admin
from kafkawire.admin import REQUIREMENTS, AdminClient, BlockingAdminClient, Support
from kafkawire.broker import EmbeddedBroker
from kafkawire.cli.app import main
from kafkawire.protocol.errors import (
    BrokerIdNotRegisteredError,
    DelegationTokenRequestNotAllowedError,
    GroupIdNotFoundError,
    InvalidReplicaAssignmentError,
    LogDirNotFoundError,
    TopicAlreadyExistsError,
    TransactionalIdNotFoundError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

IN_EVERY_INSTALLATION = [example for example in examples() if not example.owner.startswith("spark.")]
"""All except those that need Spark: `tests/interop/spark` runs them."""

ENDS_IN = {
    "delete_share_group_offsets": {GroupIdNotFoundError},
    "delete_share_groups": {GroupIdNotFoundError},
    "describe_share_groups": {GroupIdNotFoundError},
    "describe_streams_groups": {GroupIdNotFoundError},
    "describe_transactions": {TransactionalIdNotFoundError},
    "remove_members_from_consumer_group": {UnknownMemberIdError},
    "unregister_broker": {BrokerIdNotRegisteredError},
    "alter_replica_log_dirs": {LogDirNotFoundError},
    "alter_partition_reassignments": {InvalidReplicaAssignmentError},
    "add_raft_voter": {UnsupportedVersionError},
    "remove_raft_voter": {UnsupportedVersionError},
    "DelegationToken.credentials": {DelegationTokenRequestNotAllowedError},
    "create_delegation_token": {DelegationTokenRequestNotAllowedError},
    "credentials": {DelegationTokenRequestNotAllowedError},
    "describe_delegation_token": {DelegationTokenRequestNotAllowedError},
    "expire_delegation_token": {DelegationTokenRequestNotAllowedError},
    "renew_delegation_token": {DelegationTokenRequestNotAllowedError},
    "AdminClient": {TopicAlreadyExistsError},
    "BlockingAdminClient": {TopicAlreadyExistsError},
}
"""The errors that some examples print: the broker has no such member, group or id, one node, and no tokens."""


RULES = """
[[rules]]
id = "topic-deleted"
title = "A topic was deleted."
severity = "medium"
history = "topic_history"
remedy = "ask who did it"
when = { change = "deleted" }
"""


def public_methods(client: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")}


def test_every_method_of_the_admin_client_has_an_example() -> None:
    found = {example.name for example in examples() if example.owner.startswith("admin.")}
    assert public_methods(AdminClient) - found == set()


@pytest.mark.parametrize("method", sorted(public_methods(BlockingAdminClient)))
def test_help_on_a_method_shows_its_example(method: str) -> None:
    assert "\nExample:\n" in (inspect.getdoc(getattr(BlockingAdminClient, method)) or "")


@pytest.mark.extended
def test_examples_are_strictly_typed(root: Path, tmp_path: Path) -> None:
    functions = [
        f"async def example_{number}({_parameter(example)}) -> None:\n{textwrap.indent(example.code, '    ')}"
        for number, example in enumerate(IN_EVERY_INSTALLATION)
    ]
    names = ",\n    ".join(vars(kafkawire.admin)["__all__"])
    module = tmp_path / "docstring_examples.py"
    module.write_text(
        f"from __future__ import annotations\n\nfrom kafkawire.admin import (\n    {names},\n)\n\n"
        + "\n\n".join(functions)
    )
    settings = ["--config-file", str(root / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *settings, str(module)]  # in this process, its trees would stay for good
    finished = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, ""), finished.stdout


def _parameter(example: Example) -> str:
    """The client, unless the example makes one."""
    return "" if re.search(r"^admin = | as admin:$", example.code, flags=re.MULTILINE) else "admin: AdminClient"


@pytest.mark.parametrize("example", IN_EVERY_INSTALLATION, ids=str)
async def test_an_example_runs(example: Example, root: Path, tmp_path: Path) -> None:
    """An API that the embedded broker does not serve ends it; `tests/interop/admin` runs the same on a real one."""
    logs = root / "tests/fixtures/kafka-4.3.1/logs"
    places = {"/var/lib/kafka/data": str(logs), "/var/lib/kafkawire": str(tmp_path)}
    if "/evidence/" in example.code:
        keep_evidence(logs, tmp_path)
        places["/evidence/"] = f"{tmp_path}/"
    if '"rules.toml"' in example.code:
        (tmp_path / "rules.toml").write_text(RULES)
        places['"rules.toml"'] = f'"{tmp_path}/rules.toml"'
    async with EmbeddedBroker(PROPERTIES) as broker, AdminClient(broker.bootstrap_servers) as admin:
        await prepare(admin)
        capabilities = (await admin.capabilities())[1]
        lacking = any(capabilities[method].support is Support.UNSUPPORTED for method in methods_of(example))
        errors = await errors_of(example, {**places, ADDRESS: broker.bootstrap_servers}, admin=admin)
    expected = {UnsupportedVersionError} if lacking else ENDS_IN.get(example.name, set())
    assert set(map(type, errors)) == expected


def keep_evidence(logs: Path, folder: Path) -> None:
    """Copies of logs from three brokers, and a table with its manifest."""
    for number in (1, 2, 3):
        shutil.copytree(logs, folder / f"broker-{number}")
    out = str(folder / "acls.csv")
    assert main(["tables", "--log", str(logs), "--table", "acl_history", "--out", out, "--manifest"]) == 0


def methods_of(example: Example) -> set[str]:
    """The methods of the admin client that an example calls."""
    return {method for method in REQUIREMENTS if f"admin.{method}(" in example.code}
