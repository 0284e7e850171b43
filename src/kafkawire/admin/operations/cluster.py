"""The cluster and its features (admin-cluster)."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire import protocol
from kafkawire.admin.engine.operation import K, Operation, Outcomes, Request, failure
from kafkawire.admin.engine.route import ANY_NODE, CONTROLLER, OnNode, Route
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import CLUSTER_ALONE_SINCE, first_version, metadata_request
from kafkawire.admin.needs import needs
from kafkawire.admin.results import Results
from kafkawire.admin.settings import SOFTWARE_NAME, SOFTWARE_VERSION
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import authorized_operations
from kafkawire.model.cluster import (
    ClusterDescription,
    ClusterNode,
    FeatureLevels,
    Features,
    FeatureUpdate,
    UpgradeType,
)
from kafkawire.model.nodes import Node
from kafkawire.model.topics import known_number
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message


class NodeChange(Operation[K, None, Message]):
    """A change of one node of the cluster, made by controllers; its answer has nothing but an error."""

    mutates = True
    on_controllers = True
    batch = 1

    def read(self, request: Request[K], response: Message) -> Outcomes[K, None]:
        return dict.fromkeys(request.items)


_BROKERS, _CONTROLLERS = 1, 2
"""Endpoint types of DescribeCluster."""

_UPGRADE_TYPE = "feature_updates.upgrade_type"


class DescribeCluster(Operation[None, ClusterDescription, "protocol.DescribeClusterResponse"]):
    """KIP-700, KIP-919 (controllers), KIP-1073 (fenced brokers)."""

    name = "describe_cluster"
    api = ApiKey.DESCRIBE_CLUSTER
    on_controllers = True

    def __init__(self, *, controllers: bool, authorized: bool, fenced: bool) -> None:
        self._controllers = controllers
        self._authorized = authorized
        self._fenced = fenced
        self.needs = ("include_fenced_brokers",) if fenced else ("endpoint_type",) if controllers else ()

    def build(self, request: Request[None]) -> Message:
        return protocol.DescribeClusterRequest(
            include_cluster_authorized_operations=self._authorized,
            endpoint_type=_CONTROLLERS if self._controllers else _BROKERS,
            include_fenced_brokers=self._fenced,
        )

    def read(
        self, request: Request[None], response: protocol.DescribeClusterResponse
    ) -> Outcomes[None, ClusterDescription]:
        operations = authorized_operations(response.cluster_authorized_operations)
        return {
            None: ClusterDescription(
                cluster_id=response.cluster_id,
                controller=known_number(response.controller_id),
                nodes=tuple(
                    ClusterNode(Node(broker.broker_id, broker.host, broker.port, broker.rack), broker.is_fenced)
                    for broker in response.brokers
                ),
                authorized_operations=operations if self._authorized else None,
            )
        }

    def fallback(self) -> Operation[None, ClusterDescription, protocol.MetadataResponse] | None:
        # Metadata has neither controllers nor fenced brokers.
        return None if self.needs else DescribeClusterInMetadata(authorized=self._authorized)


class DescribeClusterInMetadata(Operation[None, ClusterDescription, "protocol.MetadataResponse"]):
    """The same from older brokers."""

    name = "describe_cluster"
    api = ApiKey.METADATA
    minimum_version = CLUSTER_ALONE_SINCE
    maximum_version = 10

    def __init__(self, *, authorized: bool) -> None:
        self._authorized = authorized
        self.needs = ("include_cluster_authorized_operations",) if authorized else ()

    def build(self, request: Request[None]) -> Message:
        return metadata_request(request.version, (), cluster_operations=self._authorized)

    def read(self, request: Request[None], response: protocol.MetadataResponse) -> Outcomes[None, ClusterDescription]:
        operations = authorized_operations(response.cluster_authorized_operations)
        return {
            None: ClusterDescription(
                cluster_id=response.cluster_id,
                controller=known_number(response.controller_id),
                nodes=tuple(ClusterNode(Node(b.node_id, b.host, b.port, b.rack)) for b in response.brokers),
                authorized_operations=operations if self._authorized else None,
            )
        }


class DescribeFeatures(Operation[int | None, Features, "protocol.ApiVersionsResponse"]):
    """KIP-584; the item is a node, or None for any."""

    name = "describe_features"
    api = ApiKey.API_VERSIONS
    on_controllers = True
    minimum_version = 3  # with features

    def route_of(self, item: int | None) -> Route:
        return ANY_NODE if item is None else OnNode(item)

    def build(self, request: Request[int | None]) -> Message:
        return protocol.ApiVersionsRequest(SOFTWARE_NAME, SOFTWARE_VERSION)

    def read(
        self, request: Request[int | None], response: protocol.ApiVersionsResponse
    ) -> Outcomes[int | None, Features]:
        features = Features(
            supported={f.name: FeatureLevels(f.min_version, f.max_version) for f in response.supported_features},
            finalized={
                f.name: FeatureLevels(f.min_version_level, f.max_version_level) for f in response.finalized_features
            },
            finalized_epoch=response.finalized_features_epoch if response.finalized_features_epoch >= 0 else None,
        )
        return dict.fromkeys(request.items, features)


class UpdateFeatures(Operation[str, None, "protocol.UpdateFeaturesResponse"]):
    """KIP-584, KIP-778 (kinds of upgrades, validation); all or nothing."""

    name = "update_features"
    api = ApiKey.UPDATE_FEATURES
    route = CONTROLLER
    mutates = True
    on_controllers = True

    def __init__(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        self._updates = updates
        self._validate_only = validate_only
        unsafe = any(update.upgrade_type is UpgradeType.UNSAFE_DOWNGRADE for update in updates.values())
        self.needs = (_UPGRADE_TYPE,) if validate_only or unsafe else ()

    def build(self, request: Request[str]) -> Message:
        return protocol.UpdateFeaturesRequest(
            timeout_ms=request.timeout_ms,
            feature_updates=tuple(self._update(name, request.version) for name in request.items),
            validate_only=self._validate_only,
        )

    def read(self, request: Request[str], response: protocol.UpdateFeaturesResponse) -> Outcomes[str, None]:
        outcomes = {result.feature: failure(result.error_code, result.error_message) for result in response.results}
        # From version 2 on, a feature that the answer leaves out was updated.
        return outcomes if request.version < 2 else dict.fromkeys(request.items) | outcomes

    def _update(self, name: str, version: int) -> protocol.UpdateFeaturesRequest.FeatureUpdateKey:
        update = self._updates[name]
        key = protocol.UpdateFeaturesRequest.FeatureUpdateKey
        if version < first_version(protocol.UpdateFeaturesRequest, _UPGRADE_TYPE):
            is_downgrade = update.upgrade_type is not UpgradeType.UPGRADE
            return key(name, update.max_version_level, allow_downgrade=is_downgrade)
        return key(name, update.max_version_level, upgrade_type=update.upgrade_type)


class UnregisterBroker(NodeChange[int]):
    """KIP-500."""

    name = "unregister_broker"
    api = ApiKey.UNREGISTER_BROKER

    def build(self, request: Request[int]) -> Message:
        return protocol.UnregisterBrokerRequest(request.items[0])


class UnregisterController(NodeChange[int]):
    """KIP-1312."""

    name = "unregister_controller"
    api = ApiKey.UNREGISTER_CONTROLLER

    def build(self, request: Request[int]) -> Message:
        return protocol.UnregisterControllerRequest(request.items[0])


class ClientInstanceId(Operation[None, Uuid, "protocol.GetTelemetrySubscriptionsResponse"]):
    """KIP-714."""

    name = "client_instance_id"
    api = ApiKey.GET_TELEMETRY_SUBSCRIPTIONS

    def build(self, request: Request[None]) -> Message:
        return protocol.GetTelemetrySubscriptionsRequest()

    def read(
        self, request: Request[None], response: protocol.GetTelemetrySubscriptionsResponse
    ) -> Outcomes[None, Uuid]:
        return {None: response.client_instance_id}


class ClusterOperations(OperationFamily):
    """The cluster as a whole."""

    @needs(DescribeCluster, DescribeClusterInMetadata)
    async def describe_cluster(
        self,
        *,
        include_authorized_operations: bool = False,
        include_fenced_brokers: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """The members of the cluster: brokers, or controllers where the client is connected to these.

        Args:
            include_authorized_operations: whether to include the operations that the caller may perform on the cluster.
            include_fenced_brokers: whether to include fenced brokers; needs 4.0 or newer.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: if no node answers.

        Example:
            ```python
            cluster = await admin.describe_cluster()
            print(cluster.cluster_id)
            for member in cluster.nodes:
                print(member.node.id, member.node.address, member.node.rack)
            ```
        """
        operation = DescribeCluster(
            controllers=self._cluster.kind == "controllers",
            authorized=include_authorized_operations,
            fenced=include_fenced_brokers,
        )
        return await self._only(operation, None, timeout)

    @needs(DescribeFeatures)
    async def describe_features(self, *, node: int | None = None, timeout: float | None = None) -> Features:
        """The features of a node and of the cluster.

        Args:
            node: id of the node; None for any.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: if the node does not answer.

        Example:
            ```python
            features = await admin.describe_features()
            for name, levels in features.supported.items():
                finalized = features.finalized.get(name)
                print(name, "is at", finalized.highest if finalized else 0, "of", levels.highest)
            ```
        """
        return await self._only(DescribeFeatures(), node, timeout)

    @needs(UpdateFeatures, rights="ALTER CLUSTER")
    async def update_features(
        self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool = False, timeout: float | None = None
    ) -> Results[str, None]:
        """Change the levels of features, all or none.

        Args:
            updates: feature to its change.
            validate_only: change nothing, but run all checks.
            timeout: see `AdminClient`.

        Returns:
            Feature to None, or to what went wrong: `InvalidUpdateVersionError`, `FeatureUpdateFailedError` ... Newer
            brokers return one error for all.

        Example:
            ```python
            supported = (await admin.describe_features()).supported["metadata.version"]
            update = {"metadata.version": FeatureUpdate(supported.highest)}
            (await admin.update_features(update, validate_only=True)).all()
            (await admin.update_features(update)).all()
            ```
        """
        return await self._each(UpdateFeatures(updates, validate_only=validate_only), updates, timeout)

    @needs(UnregisterBroker, rights="ALTER CLUSTER")
    async def unregister_broker(self, broker: int, *, timeout: float | None = None) -> None:
        """Remove the registration of a broker that will not come back.

        Args:
            broker: its id.
            timeout: see `AdminClient`.

        Raises:
            BrokerIdNotRegisteredError: if none with this id is registered.

        Example:
            ```python
            await admin.unregister_broker(7)  # it was shut down, and its disks are gone
            ```
        """
        await self._only(UnregisterBroker(), broker, timeout)

    @needs(UnregisterController, rights="ALTER CLUSTER")
    async def unregister_controller(self, controller: int, *, timeout: float | None = None) -> None:
        """Remove the registration of a controller that will not come back (KIP-1312).

        A registration has the addresses of a controller and the features that it supports. Remove a voter with
        `remove_raft_voter` first.

        Args:
            controller: its id.
            timeout: see `AdminClient`.

        Raises:
            ControllerIdNotRegisteredError: if none with this id is registered.
            InvalidRequestError: if it is the active controller.
            UnsupportedVersionError: at brokers and controllers before 4.4.

        Example:
            ```python
            await admin.unregister_controller(3002)  # it was shut down, and it is no voter any more
            ```
        """
        await self._only(UnregisterController(), controller, timeout)

    @needs(ClientInstanceId)
    async def client_instance_id(self, *, timeout: float | None = None) -> Uuid:
        """The id that a broker gives to this client for telemetry.

        Args:
            timeout: see `AdminClient`.

        Raises:
            UnsupportedVersionError: if the brokers collect no telemetry.

        Example:
            ```python
            print("the id of this client in its metrics:", await admin.client_instance_id())
            ```
        """
        return await self._only(ClientInstanceId(), None, timeout)
