"""Whatever is in a data directory: the broker starts on it, or says what is wrong with it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from unittest.mock import patch

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.broker import EmbeddedBroker, StorageError

METADATA: Final = "__cluster_metadata-0"
OFFSETS: Final = ("__consumer_offsets-0", "__consumer_offsets-1")
META_PROPERTIES: Final = "version=1\ncluster.id=mine\nnode.id=1\ndirectory.id=z9a6gXO6NVdj-1_OCQvaMA\n"
FILES: Final = {
    "meta.properties": META_PROPERTIES.encode(),
    f"{METADATA}.end-offset-checkpoint": b"0\n100\n",
    f"{OFFSETS[0]}/end-offset-checkpoint": b"0\n10\n",
    **{
        f"{log}/{path.name}": path.read_bytes()
        for log in (METADATA, *OFFSETS)
        for path in sorted((FIXTURES / "logs" / log).iterdir())
    },
}
"""A directory that Kafka and the broker have had: segments, snapshots, and the small files beside them."""

KINDS: Final = ("cut", "overwritten", "inserted", "appended", "replaced", "gone")
DAMAGES: Final = st.dictionaries(
    st.sampled_from(sorted(FILES)),
    st.tuples(st.sampled_from(KINDS), st.integers(0, 12_000), st.binary(max_size=40)),
    min_size=1,
    max_size=3,
)


@given(DAMAGES)
@settings(max_examples=scaled(100), deadline=None)
def test_damage_of_any_kind_is_survived_or_named(damages: Mapping[str, tuple[str, int, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder, patch("os.fsync"):
        for log in (METADATA, *OFFSETS):
            (Path(folder) / log).mkdir()
        for name, content in FILES.items():
            left = damaged(content, *damages[name]) if name in damages else content
            if left is not None:
                (Path(folder) / name).write_bytes(left)
        said = asyncio.run(start_and_stop(Path(folder)))
    assert said == "" or folder in said or "of the metadata log is about something" in said


def damaged(content: bytes, kind: str, at: int, other: bytes) -> bytes | None:
    """What is left of a file."""
    left = {
        "cut": content[:at],
        "overwritten": content[:at] + other + content[at + len(other) :],
        "inserted": content[:at] + other + content[at:],
        "appended": content + other,
        "replaced": other,
    }
    return left.get(kind)


async def start_and_stop(data_dir: Path) -> str:
    """What the broker says is wrong; nothing if it starts. Any other error is one too many."""
    try:
        async with EmbeddedBroker(data_dir=data_dir):
            return ""
    except StorageError as error:
        return str(error)
