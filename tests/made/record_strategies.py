"""Hypothesis strategies for records, with lengths around the ends of the varint forms."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from kafkawire.wire.batches.batch import Header, Record

octets = st.binary(max_size=12) | st.sampled_from([63, 64, 127, 128, 8191, 8192]).map(bytes)
timestamps = st.integers(-1, 2**41) | st.sampled_from([-1, 0, 2**62])
headers = st.builds(Header, st.text(max_size=5), st.none() | octets)


def as_log(steps: Sequence[tuple[int, Record]]) -> tuple[Record, ...]:
    """Records with rising offsets from 1000 on."""
    offset, out = 999, []
    for step, record in steps:
        offset += step
        out.append(Record(offset, record.timestamp, record.key, record.value, record.headers))
    return tuple(out)


record_lists = st.lists(
    st.tuples(
        st.integers(1, 3) | st.sampled_from([64, 8192, 2**20]),
        st.builds(
            Record,
            timestamp=timestamps,
            key=st.none() | octets,
            value=st.none() | octets,
            headers=st.lists(headers, max_size=2).map(tuple),
        ),
    ),
    max_size=6,
).map(as_log)
plain_lists = st.lists(st.tuples(st.none() | octets, st.none() | octets, st.integers(0, 2**41)), min_size=1, max_size=6)
