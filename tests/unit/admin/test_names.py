"""The names of ``kafkawire.admin``: every one exists, and no module is loaded before its first use."""

from __future__ import annotations

import pydoc
import subprocess
import sys
from types import ModuleType

import pytest

import kafkawire.admin
import kafkawire.broker
from kafkawire.admin.families import FAMILIES

NAMES = vars(kafkawire.admin)["__all__"]
OTHER_FAMILIES = {f"kafkawire.admin.operations.{family.partition('.')[0]}" for family in FAMILIES} - {
    "kafkawire.admin.operations.topic_descriptions"
}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_had(name: str) -> None:
    value = getattr(kafkawire.admin, name)
    assert not isinstance(value, type) or value.__name__ == name


def test_the_names_of_the_stub_are_the_public_ones() -> None:
    assert "AclBinding" in NAMES
    assert set(NAMES) <= set(dir(kafkawire.admin))


@pytest.mark.parametrize("package", [kafkawire.admin, kafkawire.broker], ids=["admin", "broker"])
def test_tab_completion_and_help_know_every_name_before_it_is_used(package: ModuleType) -> None:
    matches = "rlcompleter.Completer(vars()).attr_matches('package.')"
    program = f"import {package.__name__} as package, rlcompleter; print(*(each.strip('()') for each in {matches}))"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    names = vars(package)["__all__"]
    assert {f"package.{name}" for name in names} <= set(completed.split())
    page = pydoc.plain(pydoc.render_doc(package))
    assert [name for name in names if name not in page] == []


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        getattr(kafkawire.admin, "Nothing")  # noqa: B009 a checker would refuse the plain form


def test_deciding_offline_loads_no_sockets() -> None:
    program = "import sys; from kafkawire.admin import AclBinding, AclEvaluator; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("statement", "later"),
    [
        ("import kafkawire.admin", {"asyncio", "msgspec", "re", "typing"}),
        (
            "from kafkawire.admin import AdminClient",
            {
                "hashlib",
                "ipaddress",
                "pathlib",
                "random",
                "kafkawire.admin.cluster",
                "kafkawire.admin.connection.channel",
                "kafkawire.admin.operations",
                "kafkawire.rpc",
            },
        ),
        ("from kafkawire.admin import BlockingAdminClient", {"kafkawire.admin.operations"}),
        ("from kafkawire.admin import AdminClient; AdminClient.list_topics", OTHER_FAMILIES),
        ("from kafkawire.admin import BlockingAdminClient; BlockingAdminClient.list_topics", OTHER_FAMILIES),
    ],
)
def test_an_import_loads_nothing_that_only_later_work_needs(statement: str, later: set[str]) -> None:
    """Programs wait for it each time they start; connections, logins and hashes come when they are needed."""
    program = f"{statement}; print({later} & set(sys.modules))"
    # Started without `site`, which may load anything: .pth files of the environment are none of ours.
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path}; {program}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
