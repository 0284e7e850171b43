"""The families of operations: each is imported when one of its methods is first used; nothing else shows it."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kafkawire.admin import AdminClient, operations
from kafkawire.admin.families import FAMILIES
from kafkawire.admin.family import OperationFamily


def families() -> Iterator[tuple[str, type]]:
    """The families that there are, by module and class."""
    for module in pkgutil.iter_modules(operations.__path__):
        for name, value in vars(importlib.import_module(f"{operations.__name__}.{module.name}")).items():
            if (
                isinstance(value, type)
                and issubclass(value, OperationFamily)
                and value.__module__.endswith(module.name)
            ):
                yield f"{module.name}.{name}", value


def methods_of(family: type) -> list[str]:
    return [name for name in vars(family) if not name.startswith("_")]


def test_the_table_has_every_method_of_every_family() -> None:
    wanted = {name: " ".join(methods_of(family)) for name, family in families() if methods_of(family)}
    lines = [f'"{name}": "{methods}",' for name, methods in wanted.items() if FAMILIES.get(name) != methods]
    assert not lines, "put into FAMILIES of admin/families.py:\n" + "\n".join(lines)
    assert FAMILIES.keys() == wanted.keys(), "admin/families.py has families that do not exist"


@pytest.mark.parametrize("name", FAMILIES)
def test_the_methods_of_the_client_are_those_of_its_families(name: str) -> None:
    family = dict(families())[name]
    for method in methods_of(family):
        assert getattr(AdminClient, method) is vars(family)[method]
    assert issubclass(AdminClient, family)


def test_no_family_hides_a_part_of_another() -> None:
    own = [name for _, family in families() for name in vars(family) if not name.startswith("__")]
    assert len(own) == len(set(own))


def in_a_new_process(program: str) -> None:
    """Run a program in which no family has been used."""
    before = "from kafkawire.admin import AdminClient, BlockingAdminClient\n"
    run = subprocess.run([sys.executable, "-c", before + program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_threads_may_use_a_method_first_at_the_same_time() -> None:
    in_a_new_process("""
import inspect, sys, threading
from concurrent.futures import ThreadPoolExecutor

sys.setswitchinterval(1e-6)
names = [name for name in dir(AdminClient) if not name.startswith("_") and name not in {"close", "from_properties"}]
start = threading.Barrier(8)

def use(number):
    start.wait()
    turned = names[number * 9:] + names[:number * 9]
    return {name: (getattr(AdminClient, name), getattr(BlockingAdminClient, name)) for name in turned}

with ThreadPoolExecutor(8) as threads:
    found = list(threads.map(use, range(8)))
for name in names:
    assert {each[name][0] for each in found} == {getattr(AdminClient, name)}, name
    assert all(inspect.unwrap(each[name][1]) is inspect.unwrap(each[name][0]) for each in found), name
""")


def test_a_subclass_made_before_the_first_use_may_replace_a_method() -> None:
    in_a_new_process("""
class Mine(AdminClient):
    def list_topics(self, **options):
        return "mine", super().list_topics(**options)

name, call = Mine("localhost:9092").list_topics()
call.close()
assert (name, call.__name__) == ("mine", "list_topics")
assert Mine.delete_topics is AdminClient.delete_topics
assert AdminClient.list_topics.__qualname__ == "TopicDescriptionOperations.list_topics"
""")


@pytest.mark.parametrize("client", ["AdminClient", "BlockingAdminClient"])
def test_a_stand_in_for_a_method_that_was_not_used_yet_has_its_signature(client: str) -> None:
    in_a_new_process(f"""
import asyncio
from unittest import mock

def call(**options):
    made = client.create_topics([], **options)
    asyncio.run(made) if {client} is AdminClient else None  # since Python 3.13 the call is noted when it is awaited

with mock.patch.object({client}, "create_topics", autospec=True) as stand_in:
    {client}.delete_topics  # of the same family
    client = {client}("localhost:9092")
    call(validate_only=True)
    assert stand_in.call_args == mock.call(client, [], validate_only=True)
    try:
        call(nothing=True)
    except TypeError:
        pass
    else:
        raise AssertionError("any argument is taken")
assert {client}.create_topics.__qualname__ == "TopicOperations.create_topics"
getattr(client, "close")() if {client} is BlockingAdminClient else None
""")


def test_a_method_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(AdminClient, "list_racks")
    with pytest.raises(AttributeError, match="type object 'AdminClient' has no attribute 'list_racks'"):
        getattr(AdminClient, "list_racks")  # noqa: B009 a checker would refuse the plain form
