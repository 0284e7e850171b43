"""The API reference has every public name, and each says what it is."""

from __future__ import annotations

import inspect
import pkgutil
import re
import zlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

import kafkawire
from kafkawire.protocol import MESSAGE_NAMES

INTERNAL = {"kafkawire.layout", "kafkawire.wire.reference"}
"""Packages that only the others use."""

MODULES = (
    "kafkawire.rpc",
    "kafkawire.wire.kafka_errors",
    "kafkawire.protocol.errors",
    "kafkawire.pytest_plugin.fixtures",
)
"""Public modules that are no packages: what they define is public."""

LINE = re.compile(r"^(\S+) \S+ \S+ (\S+) ")


def packages_with_names() -> Iterator[str]:
    """The packages that list public names."""
    for found in pkgutil.walk_packages(kafkawire.__path__, "kafkawire."):
        if found.ispkg and hasattr(import_module(found.name), "__all__") and found.name not in INTERNAL:
            yield found.name


@cache
def public_names() -> dict[str, object]:
    """Each public name with its package, and the object."""
    listed = {
        f"{package}.{name}": getattr(import_module(package), name)
        for package in packages_with_names()
        for name in import_module(package).__all__
        if name not in MESSAGE_NAMES
    }
    defined = {
        f"{module}.{name}": value
        for module in MODULES
        for name, value in vars(import_module(module)).items()
        if not name.startswith(("_", "pytest_"))
        and getattr(value, "__module__", None) == module
        and not isinstance(value, TypeVar)
    }
    return listed | defined


def methods(names: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The public methods and properties that classes of the project define, inherited ones of the clients too."""
    for path, value in names.items():
        if isinstance(value, type):
            inherits = path.endswith(("AdminClient", "Broker"))
            for name in dir(value) if inherits else vars(value):
                member = None if name.startswith("_") else getattr(value, name)
                if inspect.isfunction(member) or isinstance(member, property):
                    yield f"{path}.{name}", member


@pytest.fixture(scope="module")
def anchors(site: Path) -> dict[str, str]:
    """Each name of the site's inventory, and the address where it is shown."""
    inventory = (site / "objects.inv").read_bytes()
    lines = zlib.decompress(inventory.partition(b"zlib.\n")[2]).decode().splitlines()
    found = [match.groups() for line in lines if (match := LINE.match(line))]
    return {name: name.join(address.rsplit("$", 1)) for name, address in found}


def test_there_are_public_names() -> None:
    assert {"kafkawire.admin", "kafkawire.broker", "kafkawire.logs", "kafkawire.wire"} <= set(packages_with_names())
    assert len(public_names()) > 300


@pytest.mark.extended
def test_every_public_name_is_on_a_page(anchors: dict[str, str]) -> None:
    assert [name for name in public_names() if name not in anchors] == []


@pytest.mark.extended
def test_every_public_method_is_on_a_page(anchors: dict[str, str]) -> None:
    found = dict(methods(public_names()))
    assert len([name for name in found if name.startswith("kafkawire.admin.BlockingAdminClient.")]) > 69
    assert [name for name in found if name not in anchors] == []


@pytest.mark.extended
def test_every_anchor_is_on_its_page(site: Path, anchors: dict[str, str]) -> None:
    pages: dict[str, str] = {}
    lost = []
    for address in anchors.values():
        page, _, anchor = address.partition("#")
        text = pages.setdefault(page, (site / page).read_text("utf-8"))
        if f'id="{anchor}"' not in text:
            lost.append(address)
    assert lost == []


def has_docstring(value: object) -> bool:
    """Whether a class or function has a docstring of its own; other values have none."""
    if isinstance(value, type):
        return value.__doc__ is not None and not value.__doc__.startswith(f"{value.__name__}(")
    if isinstance(value, msgspec.Struct) or not (inspect.isroutine(value) or isinstance(value, property)):
        return True
    return bool(inspect.getdoc(value))


def test_every_public_name_has_a_docstring() -> None:
    names = public_names() | dict(methods(public_names()))
    assert [name for name, value in names.items() if not has_docstring(value)] == []


@pytest.mark.extended
def test_a_method_has_its_arguments_its_result_and_a_link_to_their_types(site: Path) -> None:
    page = (site / "api" / "admin-client.html").read_text("utf-8")
    begin = page.index('id="kafkawire.admin.AdminClient.create_topics"')
    method = page[begin : page.index('id="kafkawire.admin.AdminClient.delete_acls"')]
    assert "Create topics, or check whether they could be created." in method
    assert all(f">{title}:</span>" in method for title in ("Parameters", "Returns"))
    assert 'href="topics.html#kafkawire.admin.NewTopic"' in method
    assert 'href="error-classes.html#kafkawire.protocol.errors.TopicAlreadyExistsError"' in method


@pytest.mark.extended
def test_a_blocking_method_has_the_signature_of_the_other(site: Path) -> None:
    page = (site / "api" / "blocking-admin-client.html").read_text("utf-8")
    begin = page.index('id="kafkawire.admin.BlockingAdminClient.create_topics"')
    method = page[begin : begin + 6000]
    assert "validate_only" in method
    assert 'href="admin-client.html#kafkawire.admin.AdminClient.create_topics"' in method
    assert "async" not in method.partition("</h3>")[0]
