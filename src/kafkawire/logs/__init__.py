"""Kafka's own logs as tables: segments and snapshots in, Arrow out. Needs ``kafkawire[tables]``."""

from __future__ import annotations

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.alerts.finding import Alert, AlertFinder
from kafkawire.logs.alerts.rules import ALERT_RULES, AlertRule, AlertSeverity
from kafkawire.logs.catalogue import table_named, table_names
from kafkawire.logs.errors import (
    BeforeKnowledgeError,
    LogReadError,
    NoLogsError,
    UnknownColumnError,
    UnknownTableError,
)
from kafkawire.logs.files.arrow_store import ArrowStore, store_for
from kafkawire.logs.files.log_files import FileKind, LogFile, find_log_files
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch, scan_batches
from kafkawire.logs.frames.flaws import FLAW_CODES, Flaw
from kafkawire.logs.history_tables import read_metadata_histories
from kafkawire.logs.option_records import OptionError
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.past_acls import read_past_acls
from kafkawire.logs.past_alerts import read_alerts
from kafkawire.logs.planning import plan
from kafkawire.logs.records.batch_records import OpenedBatch
from kafkawire.logs.records.scanning import scan_records
from kafkawire.logs.registry import RecordRegistry
from kafkawire.logs.table_changes import TableChanges, read_changes
from kafkawire.logs.table_stream import read_part, read_table
from kafkawire.logs.tables.table import Part, Table
from kafkawire.logs.typed_batches import RecordBatch
from kafkawire.model.acls.past_rights import PastAcl, PastRight, who_could

__all__ = [
    "ALERT_RULES",
    "FLAW_CODES",
    "LOCAL",
    "Accounts",
    "Alert",
    "AlertFinder",
    "AlertRule",
    "AlertSeverity",
    "ArrowStore",
    "BeforeKnowledgeError",
    "FileKind",
    "FileRange",
    "FileStore",
    "Flaw",
    "LogFile",
    "LogReadError",
    "NoLogsError",
    "OpenedBatch",
    "OptionError",
    "Part",
    "PastAcl",
    "PastRight",
    "ReadMode",
    "ReadOptions",
    "RecordBatch",
    "RecordRegistry",
    "ScannedBatch",
    "Table",
    "TableChanges",
    "UnknownColumnError",
    "UnknownTableError",
    "find_log_files",
    "plan",
    "read_alerts",
    "read_changes",
    "read_metadata_histories",
    "read_part",
    "read_past_acls",
    "read_table",
    "scan_batches",
    "scan_records",
    "store_for",
    "table_named",
    "table_names",
    "who_could",
]
