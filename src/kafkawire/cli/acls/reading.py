"""``kafkawire acls list``."""

from __future__ import annotations

from kafkawire.cli.access.changes import failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.acls.acl_row import AclRow
from kafkawire.cli.acls.selecting import (
    AclResourceOptions,
    PatternChoice,
    PatternOption,
    RightsOptions,
    filters,
)
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows


@cluster_command
def list_(
    cluster: Cluster,
    *,
    resources: AclResourceOptions,
    rights: RightsOptions,
    pattern: PatternOption = PatternChoice.ANY,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List ACLs: all, or those that agree with every option. A value in an option is compared as it is.

    --topic orders --pattern match lists the ACLs that concern the topic: its own, those of prefixes, and those of *.
    """
    wanted = filters(resources, rights, pattern)
    with cluster.connected() as client:
        found = client.describe_acls(wanted, timeout=cluster.options.timeout)
    acls = sorted({acl for of_filter in found.values().values() for acl in of_filter})
    with failures_printed(found):
        print_rows(map(AclRow.of, acls), AclRow, output, empty=unless_failed(found, "no ACLs"))
