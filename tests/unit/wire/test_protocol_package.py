"""``kafkawire.protocol`` as a package: no module is loaded before its first use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafkawire import protocol
from kafkawire.codegen.merge.released_versions import read_released_versions, releases_of
from kafkawire.protocol import ALIASES, MESSAGE_NAMES, RELEASES, FetchRequest, message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.wire import Message

SPECS = Path(__file__).parents[3] / "specs"
FRESH = """
import sys
import kafkawire.protocol
loaded = {name for name in sys.modules if name.startswith("kafkawire")}
assert loaded == {"kafkawire", "kafkawire.protocol"}, loaded
assert not {"msgspec", "hypothesis", "typing", "cramjam", "jinja2"} & set(sys.modules) - before, "imported for nothing"
assert "FetchRequest" in dir(kafkawire.protocol) and "FetchRequest" in kafkawire.protocol.__all__
assert "msgspec" not in sys.modules
from kafkawire import wire
from kafkawire.protocol import FetchRequest
loaded = {name for name in sys.modules if name.startswith("kafkawire.protocol.")}
assert loaded == {"kafkawire.protocol.clients", "kafkawire.protocol.clients.fetch_request"}, loaded
assert FetchRequest().encode(4)
assert "kafkawire.wire.reference" not in sys.modules
layouts = "kafkawire.protocol.clients._layouts.fetch_request"
assert (layouts in sys.modules) == (wire.ENGINE != "python"), "the native engine reads layouts, Python only for errors"
try:
    FetchRequest.decode(b"", 4)
except ValueError as error:
    assert "replica_id at byte 0" in str(error)
assert layouts in sys.modules
"""


def test_the_import_loads_nothing_but_a_name_table() -> None:
    program = f"import sys\nbefore = set(sys.modules)\n{FRESH}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_name_is_a_message() -> None:
    assert len(MESSAGE_NAMES) == len(set(MESSAGE_NAMES)) > 280
    for name in MESSAGE_NAMES:
        cls = message_class(name)
        assert issubclass(cls, Message)
        assert name in (cls.NAME, f"{cls.NAME}_")
        assert getattr(protocol, name) is cls
        assert set(cls.layouts().by_version) == set(cls.VERSIONS)
        assert set(cls.FLEXIBLE_VERSIONS) <= set(cls.VERSIONS)
        assert set(cls.UNSTABLE_VERSIONS) <= set(cls.VERSIONS)


def test_the_public_surface_is_whole() -> None:
    assert set(dir(protocol)) == set(protocol.__all__)
    assert set(MESSAGE_NAMES) <= set(protocol.__all__)
    assert all(hasattr(protocol, name) for name in protocol.__all__)


def test_older_names_are_aliases() -> None:
    assert ALIASES == {
        "ListClientMetricsResourcesRequest": "ListConfigResourcesRequest",
        "ListClientMetricsResourcesResponse": "ListConfigResourcesResponse",
    }
    for old, new in ALIASES.items():
        assert message_class(old) is message_class(new) is getattr(protocol, old) is getattr(protocol, new)


def test_the_package_names_its_releases_oldest_first() -> None:
    assert RELEASES[0] == "3.9.2"
    assert releases_of(read_released_versions(SPECS)) == RELEASES


def test_unknown_names() -> None:
    with pytest.raises(KeyError, match="FetchReqest"):
        message_class("FetchReqest")
    with pytest.raises(AttributeError, match=r"module 'kafkawire\.protocol' has no attribute 'FetchReqest'"):
        _ = protocol.FetchReqest
    for name in ("__getattr__", "_MODULES", "to_json", "ALIASES"):
        with pytest.raises(KeyError):
            message_class(name)


def test_message_class_returns_the_imported_class() -> None:
    assert message_class("FetchRequest") is FetchRequest


def test_the_api_table_agrees_with_the_classes() -> None:
    assert {key.value for key in ApiKey} == set(APIS)
    for key, api in APIS.items():
        request, response = message_class(api.request), message_class(api.response)
        assert request.API_KEY == response.API_KEY == key == api.key
        assert api.versions == request.VERSIONS == response.VERSIONS
        assert api.unstable_versions == request.UNSTABLE_VERSIONS
        assert set(request.HEADER_VERSIONS) == set(response.HEADER_VERSIONS) == set(api.versions)
        assert (request.HEADER_NAME, response.HEADER_NAME) == ("RequestHeader", "ResponseHeader")
        assert set(api.stable_versions) == set(api.versions) - set(api.unstable_versions)
        assert (
            ApiKey(key).name
            == "".join(
                f"_{letter}" if letter.isupper() and before.islower() else letter
                for before, letter in zip(" " + api.name, api.name, strict=False)
            ).upper()
        )
