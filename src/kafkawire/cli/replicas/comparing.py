"""``kafkawire replicas compare``."""

from __future__ import annotations

from typing import ClassVar

import typer

from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.replicas.log_options import CompactedOption, LogsOption, replicated_logs
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.column_roles import ColumnRole
from kafkawire.logs import Finding, compare_replicas


class ReplicaFindingRow(Row, frozen=True):
    """A range of offsets of a log, and what its replicas have there.

    Attributes:
        log: name of the log.
        finding: `same`: all have the same; `some`: the others begin later, end before, or have compacted it;
            `damaged`: others are damaged; `lost`: none has it; `missing`: others have nothing there; `differs`: they
            have different records; `ends`: what one replica has.
        first_offset: of the range; null if unknown.
        last_offset: of the range, included; null if unknown.
        batches: how many there are; records if the log is compacted, other than in `ends`.
        replicas: the folders of those that have it.
        reason: what the others have, or the first difference.
    """

    log: str
    finding: str
    first_offset: int | None
    last_offset: int | None
    batches: int
    replicas: tuple[str, ...]
    reason: str | None

    ROLES: ClassVar = {
        "finding": ColumnRole.CONTENT,
        "first_offset": ColumnRole.KEY,
        "replicas": ColumnRole.DETAIL,
        "reason": ColumnRole.DETAIL,
    }

    @classmethod
    def of(cls, each: Finding) -> ReplicaFindingRow:
        """The row of a finding."""
        return cls(
            each.log, each.kind.value, each.first_offset, each.last_offset, each.batches, each.replicas, each.reason
        )


def compare(log: LogsOption, compacted: CompactedOption = None, output: FormatOption = RowFormat.TABLE) -> None:
    """Compare the replicas of logs that several brokers have, batch by batch; compacted ones record by record.

    Partition folders of one name belong together. A replica that lags, or begins later, is no difference.

    Exit code: 0 if replicas agree in what they have, 1 if they differ or cannot be read, 3 if they agree and a part is
    damaged, 2 for wrong usage.
    """
    with command_errors():
        findings = [each for one in replicated_logs(log) for each in compare_replicas(one, compacted=compacted)]
    print_rows([ReplicaFindingRow.of(each) for each in findings], ReplicaFindingRow, output)
    if any(each.kind.is_difference for each in findings):
        raise typer.Exit(ExitCode.FAILED)
    if any(each.kind.is_damage for each in findings):
        raise typer.Exit(ExitCode.SOME_FAILED)
