"""Kafka's own logs as tables: segments and snapshots in, Arrow out. Needs ``kafkawire[tables]``."""

from __future__ import annotations

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.alert_rules.files import read_alert_rules
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule, AlertSeverity
from kafkawire.logs.alerts.finding import Alert, AlertFinder
from kafkawire.logs.catalogue import table_named, table_names
from kafkawire.logs.errors import (
    BeforeKnowledgeError,
    LogReadError,
    NoLogsError,
    UnknownColumnError,
    UnknownTableError,
)
from kafkawire.logs.evidence.digests import check_unchanged, describe_inputs, describe_result
from kafkawire.logs.evidence.manifest import (
    MANIFEST_FORM,
    InputFile,
    Manifest,
    ManifestError,
    Result,
    ResultFile,
    UsedState,
    Versions,
    make_manifest,
)
from kafkawire.logs.evidence.verifying import FileState, VerifiedFile, verify_manifest
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
from kafkawire.logs.replicas.comparing import compare_replicas
from kafkawire.logs.replicas.finding import Replica, ReplicatedLog, find_replicas
from kafkawire.logs.replicas.findings import Finding, FindingKind
from kafkawire.logs.replicas.merging import Merged, merge_replicas
from kafkawire.logs.table_changes import TableChanges, read_changes
from kafkawire.logs.table_stream import read_part, read_table
from kafkawire.logs.tables.table import Part, Table
from kafkawire.logs.typed_batches import RecordBatch
from kafkawire.model.acls.past_rights import PastAcl, PastRight, who_could

__all__ = [
    "ALERT_RULES",
    "FLAW_CODES",
    "LOCAL",
    "MANIFEST_FORM",
    "Accounts",
    "Alert",
    "AlertFinder",
    "AlertRule",
    "AlertSeverity",
    "ArrowStore",
    "BeforeKnowledgeError",
    "FileKind",
    "FileRange",
    "FileState",
    "FileStore",
    "Finding",
    "FindingKind",
    "Flaw",
    "InputFile",
    "LogFile",
    "LogReadError",
    "Manifest",
    "ManifestError",
    "Merged",
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
    "Replica",
    "ReplicatedLog",
    "Result",
    "ResultFile",
    "ScannedBatch",
    "Table",
    "TableChanges",
    "UnknownColumnError",
    "UnknownTableError",
    "UsedState",
    "VerifiedFile",
    "Versions",
    "check_unchanged",
    "compare_replicas",
    "describe_inputs",
    "describe_result",
    "find_log_files",
    "find_replicas",
    "make_manifest",
    "merge_replicas",
    "plan",
    "read_alert_rules",
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
    "verify_manifest",
    "who_could",
]
