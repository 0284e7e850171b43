"""``kafkawire export``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.destination import opened_destination, whole_file
from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.state.reading_cluster import print_unread, read_with_progress
from kafkawire.cli.state.selection_options import OnlyOption, PrincipalOption, TopicPrefixOption, selected
from kafkawire.declared.documents.writing import write_documents
from kafkawire.declared.planned import Kind
from kafkawire.declared.reading import ReadCluster
from kafkawire.declared.selection import StateSelection
from kafkawire.protocol.errors import SecurityDisabledError


@cluster_command
def run(
    cluster: Cluster,
    only: OnlyOption = None,
    topic_prefix: TopicPrefixOption = None,
    principal: PrincipalOption = None,
    assignments: Annotated[
        bool, typer.Option("--assignments", help="Write which brokers have the partitions of topics too.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Where to write: a file, or a folder (it exists, or ends with /) that gets a file for each kind; by "
            "default standard output.",
        ),
    ] = None,
) -> None:
    """Write the state of a cluster as documents that plan and apply read.

    Topics have partitions, replication factor and the configs that are set on them. Kafka's internal topics are left
    out, and so is everything that has its default. The same state gives the same text. A file is replaced when its
    new content is complete.

    Exit code: 0; 3 if something could not be read, which is said on standard error and in the documents.
    """
    selection = selected(only, topic_prefix, principal)
    with cluster.connected() as client:
        read = read_with_progress(client, selection.scope(), cluster.options.timeout)
    print_unread(read.unread)
    if out is not None and (out.endswith("/") or Path(out).is_dir()):
        _write_folder(Path(out), selection, read, with_assignments=assignments)
    else:
        with opened_destination(None if out is None else Path(out)) as stream:
            stream.write(_document(selection, read, with_assignments=assignments).encode())
    if any(not isinstance(each.error, SecurityDisabledError) for each in read.unread):
        raise typer.Exit(ExitCode.SOME_FAILED)


def _write_folder(folder: Path, selection: StateSelection, read: ReadCluster, *, with_assignments: bool) -> None:
    """Write a file for each selected kind, for those without items too: an earlier file would be read otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in Kind:
        if kind in selection.kinds:
            of_kind = msgspec.structs.replace(selection, kinds=frozenset({kind}))
            with whole_file(folder / f"{kind}.yaml") as stream:
                stream.write(_document(of_kind, read, with_assignments=with_assignments).encode())


def _document(selection: StateSelection, read: ReadCluster, *, with_assignments: bool) -> str:
    state = selection.of(read.state)
    heading = list(_heading(selection, read))
    return write_documents(state, with_assignments=with_assignments, heading=heading)


def _heading(selection: StateSelection, read: ReadCluster) -> Iterator[str]:
    """Where the document comes from, without a date: the same state gives the same text."""
    yield f"Written by kafkawire export{f' from cluster {read.cluster_id}' if read.cluster_id else ''}."
    for unread in read.unread:
        if unread.kind in selection.kinds:
            yield f"Not read: {unread}"
