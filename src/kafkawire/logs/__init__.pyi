from kafkawire.logs.accounts import Accounts as Accounts
from kafkawire.logs.alert_rules.files import read_alert_rules as read_alert_rules
from kafkawire.logs.alert_rules.rules import (
    ALERT_RULES as ALERT_RULES,
    AlertRule as AlertRule,
    AlertSeverity as AlertSeverity,
)
from kafkawire.logs.alerts.finding import Alert as Alert, AlertFinder as AlertFinder
from kafkawire.logs.catalogue import table_named as table_named, table_names as table_names
from kafkawire.logs.errors import (
    BeforeKnowledgeError as BeforeKnowledgeError,
    LogReadError as LogReadError,
    NoLogsError as NoLogsError,
    UnknownColumnError as UnknownColumnError,
    UnknownTableError as UnknownTableError,
)
from kafkawire.logs.evidence.digests import (
    check_unchanged as check_unchanged,
    describe_inputs as describe_inputs,
    describe_result as describe_result,
)
from kafkawire.logs.evidence.manifest import (
    MANIFEST_FORM as MANIFEST_FORM,
    InputFile as InputFile,
    Manifest as Manifest,
    ManifestError as ManifestError,
    Result as Result,
    ResultFile as ResultFile,
    UsedState as UsedState,
    Versions as Versions,
    make_manifest as make_manifest,
)
from kafkawire.logs.evidence.verifying import (
    FileState as FileState,
    VerifiedFile as VerifiedFile,
    verify_manifest as verify_manifest,
)
from kafkawire.logs.files.arrow_store import ArrowStore as ArrowStore, store_for as store_for
from kafkawire.logs.files.log_files import FileKind as FileKind, LogFile as LogFile, find_log_files as find_log_files
from kafkawire.logs.files.store import LOCAL as LOCAL, FileStore as FileStore
from kafkawire.logs.frames.batches import (
    FileRange as FileRange,
    ScannedBatch as ScannedBatch,
    scan_batches as scan_batches,
)
from kafkawire.logs.frames.flaws import FLAW_CODES as FLAW_CODES, Flaw as Flaw
from kafkawire.logs.history_tables import read_metadata_histories as read_metadata_histories
from kafkawire.logs.option_records import OptionError as OptionError
from kafkawire.logs.options import ReadMode as ReadMode, ReadOptions as ReadOptions
from kafkawire.logs.past_acls import read_past_acls as read_past_acls
from kafkawire.logs.past_alerts import read_alerts as read_alerts
from kafkawire.logs.planning import plan as plan
from kafkawire.logs.records.batch_records import OpenedBatch as OpenedBatch
from kafkawire.logs.records.scanning import scan_records as scan_records
from kafkawire.logs.registry import RecordRegistry as RecordRegistry
from kafkawire.logs.replicas.comparing import compare_replicas as compare_replicas
from kafkawire.logs.replicas.finding import (
    Replica as Replica,
    ReplicatedLog as ReplicatedLog,
    find_replicas as find_replicas,
)
from kafkawire.logs.replicas.findings import Finding as Finding, FindingKind as FindingKind
from kafkawire.logs.replicas.merging import Merged as Merged, merge_replicas as merge_replicas
from kafkawire.logs.table_changes import TableChanges as TableChanges, read_changes as read_changes
from kafkawire.logs.table_stream import read_part as read_part, read_table as read_table
from kafkawire.logs.tables.table import Part as Part, Table as Table
from kafkawire.logs.typed_batches import RecordBatch as RecordBatch
from kafkawire.model.acls.past_rights import PastAcl as PastAcl, PastRight as PastRight, who_could as who_could
