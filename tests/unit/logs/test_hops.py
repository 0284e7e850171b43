"""From the command to the bytes: docs/how-it-works.md lists the functions, and a run has exactly these on its stack."""

from __future__ import annotations

import inspect
import re
import traceback
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.cli.app import main
from kafkawire.logs.files.store import LOCAL, OpenFile

PAGE = Path(__file__).parents[3] / "docs" / "how-it-works.md"
MOST_HOPS = 18
LOG = FIXTURES / "logs" / "__cluster_metadata-0"


def listed_hops() -> list[str]:
    (section,) = re.findall(r"<!-- hops: .*?-->(.*?)<!-- end of hops -->", PAGE.read_text("utf-8"), flags=re.DOTALL)
    return re.findall(r"^\d+\. `([\w.]+)`", section, flags=re.MULTILINE)


def hops() -> list[str]:
    """The functions of kafkawire on the stack, from the command downwards."""
    names = []
    for frame, _ in traceback.walk_stack(inspect.currentframe()):
        module = frame.f_globals["__name__"]
        if module.startswith("kafkawire.") and module != "kafkawire.cli.app":
            names.append(f"{module.removeprefix('kafkawire.')}.{frame.f_code.co_qualname.partition('.<locals>')[0]}")
    return names[::-1]


def test_the_page_lists_the_functions_from_the_command_to_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    with LOCAL.open(str(LOG / "00000000000000000000.log")) as opened:
        local_file = type(opened)
    read_at, stacks = local_file.read_at, []

    def noting_the_stack(self: OpenFile, offset: int, size: int) -> bytes:
        stacks.append([*hops(), f"logs.files.store.{read_at.__qualname__}"])
        return read_at(self, offset, size)

    monkeypatch.setattr(local_file, "read_at", noting_the_stack)
    assert main(["tables", "--log", str(LOG), "--table", "acl_history", "--format", "jsonl"]) == 0
    assert listed_hops() in stacks
    assert max(map(len, stacks)) <= MOST_HOPS
