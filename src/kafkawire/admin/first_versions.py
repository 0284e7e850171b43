"""The first versions of messages that have a field, from their layouts; and requests that depend on them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from kafkawire import protocol
from kafkawire.layout import StructLayout
from kafkawire.wire import Message

CLUSTER_ALONE_SINCE = 1
"""The version of Metadata in which no topics mean none; before they mean all."""


@cache
def first_version(message: type[Message], field: str) -> int:
    """The first version of a message that has a field.

    Args:
        message: the message.
        field: its attribute, or a path to that of a struct in it, such as ``feature_updates.upgrade_type``.

    Raises:
        ValueError: if no version has it.
    """
    layouts = message.layouts()
    having = [version for version in layouts.by_version if _has(layouts.of_version(version), field)]
    if not having:
        raise ValueError(f"no version of {message.NAME} has a field {field}")
    return min(having)


def _has(layout: StructLayout | None, path: str) -> bool:
    attribute, _, rest = path.partition(".")
    return layout is not None and any(
        field.attribute == attribute and field.presence != "absent" and (not rest or _has(field.struct, rest))
        for field in layout.fields
    )


def creates_topics(version: int) -> bool:
    """Whether a request for the metadata of a topic may create it: older versions cannot say otherwise."""
    return version < first_version(protocol.MetadataRequest, "allow_auto_topic_creation")


def metadata_request(
    version: int,
    topics: Iterable[str] | None,
    *,
    cluster_operations: bool = False,
    topic_operations: bool = False,
) -> protocol.MetadataRequest:
    """A request for metadata that creates no topic, if its version can say so.

    Args:
        version: the version in which it is sent.
        topics: names of the topics; None for all.
        cluster_operations: whether to ask what the caller may do with the cluster.
        topic_operations: whether to ask what the caller may do with each topic.
    """
    topic = protocol.MetadataRequest.MetadataRequestTopic
    return protocol.MetadataRequest(
        topics=None if topics is None else tuple(topic(name=name) for name in topics),
        allow_auto_topic_creation=creates_topics(version),
        include_cluster_authorized_operations=cluster_operations,
        include_topic_authorized_operations=topic_operations,
    )
