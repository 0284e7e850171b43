"""Type aliases for identifiers: they document a field, and plain values can be assigned to it."""

from __future__ import annotations

from typing import TypeAlias

TransactionalId: TypeAlias = str
"""A transactional id (entityType ``transactionalId``)."""

ProducerId: TypeAlias = int
"""A producer id (entityType ``producerId``)."""

GroupId: TypeAlias = str
"""The id of a group (entityType ``groupId``)."""

TopicName: TypeAlias = str
"""The name of a topic (entityType ``topicName``)."""

BrokerId: TypeAlias = int
"""The id of a node (entityType ``brokerId``)."""
