"""Groups: list (admin-groups)."""

from __future__ import annotations

from collections.abc import Collection

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Request
from kafkawire.admin.first_versions import first_version
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.every_node import EveryNodeFamily, OfNodes
from kafkawire.admin.results import Gathered
from kafkawire.model.groups.descriptions import CONSUMER_PROTOCOL, GroupListing, GroupState, GroupType
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message

_KNOWN_TO_OLD_BROKERS = (frozenset({GroupType.CLASSIC}), frozenset({GroupType.CLASSIC, GroupType.CONSUMER}))
"""Brokers that cannot filter by type have classic groups only, so all their groups are of these types."""


class ListGroups(OfNodes[tuple[GroupListing, ...], "protocol.ListGroupsResponse"]):
    """KIP-518 (states), KIP-848 (types); the groups of each node."""

    name = "list_groups"
    api = ApiKey.LIST_GROUPS

    def __init__(
        self,
        states: Collection[GroupState] = (),
        types: Collection[GroupType] = (),
        protocol_types: Collection[str] | None = None,
    ) -> None:
        self._states = tuple(states)
        self._types = tuple(types)
        self._protocol_types = protocol_types
        if types and frozenset(types) not in _KNOWN_TO_OLD_BROKERS:
            self.needs = ("types_filter",)
        elif states:
            self.needs = ("states_filter",)

    def build(self, request: Request[int]) -> Message:
        message = protocol.ListGroupsRequest
        has_types = request.version >= first_version(message, "types_filter")
        return message(states_filter=self._states, types_filter=self._types if has_types else ())

    def read(
        self, request: Request[int], response: protocol.ListGroupsResponse
    ) -> Outcomes[int, tuple[GroupListing, ...]]:
        groups = tuple(
            GroupListing(
                group.group_id,
                group.protocol_type,
                GroupState(group.group_state) if group.group_state else None,
                GroupType(group.group_type) if group.group_type else None,
            )
            for group in response.groups
            if self._protocol_types is None or group.protocol_type in self._protocol_types
        )
        return dict.fromkeys(request.items, groups)


class GroupListingOperations(EveryNodeFamily):
    """Lists of groups."""

    @needs(ListGroups, rights="DESCRIBE GROUP or DESCRIBE CLUSTER")
    async def list_groups(
        self,
        *,
        states: Collection[GroupState] = (),
        types: Collection[GroupType] = (),
        protocol_types: Collection[str] | None = None,
        timeout: float | None = None,
    ) -> Gathered[GroupListing]:
        """The groups of all nodes; the coordinator of a group lists it.

        Args:
            states: only groups in one of these; empty for all. Fails at brokers before 2.6.
            types: only groups of one of these; empty for all. Fails at brokers before 3.8, unless it is ``CLASSIC``
                or that and ``CONSUMER``: they have classic groups only.
            protocol_types: only groups whose protocol type is one of these (filtered by the client); None for all.
            timeout: see `AdminClient`.

        Returns:
            The groups; the errors of nodes that failed: `UnsupportedVersionError` (a filter that the node does not
            support) ...

        Raises:
            KafkaError: if no node lists the nodes.

        Example:
            ```python
            groups = await admin.list_groups(states=[GroupState.EMPTY])
            for group in groups.values():
                print(group.group_id, group.type, group.state)
            for node, error in groups.errors().items():
                print("node", node, "did not answer:", error)
            ```
        """
        listed = await self._on_every_node(ListGroups(states, types, protocol_types), timeout)
        return Gathered(listed, lambda group: group.group_id)

    @needs(ListGroups, rights="DESCRIBE GROUP or DESCRIBE CLUSTER")
    async def list_consumer_groups(
        self, *, states: Collection[GroupState] = (), timeout: float | None = None
    ) -> Gathered[GroupListing]:
        """The groups of consumers of all nodes, of both protocols, and those that only keep offsets.

        The same as `list_groups` with filters for these.

        Args:
            states: only groups in one of these; empty for all.
            timeout: see `AdminClient`.

        Returns:
            The groups; the errors of nodes that failed.

        Raises:
            KafkaError: if no node lists the nodes.

        Example:
            ```python
            for group in (await admin.list_consumer_groups()).all():
                print(group.group_id, group.type, group.state)
            ```
        """
        types = (GroupType.CLASSIC, GroupType.CONSUMER)
        return await self.list_groups(
            states=states, types=types, protocol_types=("", CONSUMER_PROTOCOL), timeout=timeout
        )
