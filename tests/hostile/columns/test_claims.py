"""Bytes that claim to be followed by more than there is take no memory, and no bytes escape the reading of columns."""

from __future__ import annotations

import pytest
from tests.hostile.protocol.test_claims import MOST_MEMORY, claiming, versions_by_layout
from tests.kafka_logs.column_rows import check_columns_agree, taken
from tests.traced_memory import takes_less

from kafkawire.protocol.record_columns import RECORD_NAMES, record_columns
from kafkawire.wire.examples import extreme_instances


@pytest.mark.parametrize("name", RECORD_NAMES)
def test_claims_of_many_elements_take_no_memory(name: str) -> None:
    columns = record_columns(name)
    for version in versions_by_layout(columns.message):
        layout = columns.message.layouts().of_version(version)
        whole = extreme_instances(columns.message, layout)["minimum"].encode(version)
        buffers = [buffer for at in range(len(whole)) for buffer in claiming(whole, at)]

        def read_all(version: int = version, buffers: list[bytes] = buffers) -> None:
            rows = columns.rows()
            for buffer in buffers:
                rows.extend(version, (buffer,))

        assert takes_less(read_all, MOST_MEMORY), f"version {version}"
        for buffer in buffers[::7]:
            check_columns_agree(columns, version, buffer)


def test_memory_stays_proportional_to_a_large_input() -> None:
    columns = record_columns("GroupMetadataValue")
    members = 50_000
    # A member of version 0 is three strings, a number and twice octets, all empty here.
    member = bytes(3 * 2 + 4 + 2 * 4)
    octets = bytes.fromhex("0000 00000001 ffff ffff") + members.to_bytes(4) + member * members
    rows = columns.rows()
    assert takes_less(lambda: rows.extend(0, (octets,)), 100 * len(octets))
    assert len(rows) > 0
    found, _ = taken(rows, columns.schema.names)
    assert len(found[0]["members"]) == members
