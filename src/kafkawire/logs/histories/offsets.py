"""``offset_commits``: a row for each offset commit, with the time during which it was the offset of the group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from kafkawire.logs.folding.coordinator_parts import JoinedHistory
from kafkawire.logs.histories.offset_columns import COMMIT_FIELDS
from kafkawire.logs.histories.offset_fold import OffsetFold
from kafkawire.logs.times import TIMESTAMP

_COLUMNS: Final[Mapping[str, pa.DataType]] = {
    **COMMIT_FIELDS,
    "commit_time": TIMESTAMP,
    "expire_time": TIMESTAMP,
    "is_transactional": pa.bool_(),
    "txn_outcome": pa.string(),
    "tombstone": pa.bool_(),
    "valid_from": TIMESTAMP,
    "valid_to": TIMESTAMP,
    "to_offset": pa.int64(),
}

HISTORY: Final = JoinedHistory(
    "offset_commits",
    "offsets that groups committed, transactions resolved",
    _COLUMNS,
    OffsetFold,
    keys=("group_id", "topic", "partition"),
)
