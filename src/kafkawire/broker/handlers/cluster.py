"""ApiVersions and DescribeCluster, the first requests of a client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from kafkawire.broker.authorization import NO_OPERATIONS_REQUESTED
from kafkawire.broker.features import SUPPORTED_FEATURES
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.sessions import has_valid_software
from kafkawire.model.acls.bindings import CLUSTER_NAME, ResourceType
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_KNOWS_LEVEL_0: Final = 4
_ANY_NODE: Final = None, -1
_BROKER, _CONTROLLER = 1, 2
_ENDPOINT_TYPES: Final = {_BROKER: "BROKER", _CONTROLLER: "CONTROLLER"}


class ClusterHandlers:
    """Describe the cluster, and list the APIs."""

    def __init__(self, context: HandlerContext) -> None:
        self._cluster = context.cluster
        self._nodes = context.nodes
        self._offered = context.offered
        self._controller = context.controller
        self._access = context.access
        self._table = context.table
        self.apis = (
            ServedApi(ApiVersionsRequest, self._api_versions, 0, 4, highest_later=5),
            ServedApi(DescribeClusterRequest, self._describe_cluster, 0, 2),
        )

    def _api_versions(self, request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
        if not has_valid_software(request, call.version):
            return ApiVersionsResponse(ErrorCode.INVALID_REQUEST)
        if error := self._other_node(request):
            return ApiVersionsResponse(error)
        listed = (ApiVersionsResponse.ApiVersion(key, v[0], v[-1]) for key, v in sorted(self._offered.items()))
        supported = (
            ApiVersionsResponse.SupportedFeatureKey(*feature)
            for feature in self._supported()
            if feature[1] > 0 or call.version >= _KNOWS_LEVEL_0
        )
        finalized = (
            ApiVersionsResponse.FinalizedFeatureKey(name, level, level) for name, level in self._finalized().items()
        )
        return ApiVersionsResponse(
            api_keys=tuple(listed),
            supported_features=tuple(supported),
            finalized_features_epoch=self._controller.end_offset - 1,
            finalized_features=tuple(finalized),
        )

    def _other_node(self, request: ApiVersionsRequest) -> ErrorCode:
        """The error for a client that expects another node or cluster at this address (KIP-1242)."""
        expected = request.cluster_id, request.node_id
        if expected in (_ANY_NODE, (self._cluster.cluster_id, self._cluster.node_id)):
            return ErrorCode.NONE
        is_half = request.cluster_id is None or request.node_id == _ANY_NODE[1]
        return ErrorCode.INVALID_REQUEST if is_half else ErrorCode.REBOOTSTRAP_REQUIRED

    def _supported(self) -> Iterable[tuple[str, int, int]]:
        if self._table is None:
            return SUPPORTED_FEATURES
        return ((name, *levels) for name, levels in self._table.supported.items())

    def _finalized(self) -> Mapping[str, int]:
        return self._controller.image.features.levels if self._table is None else self._table.finalized

    def _describe_cluster(self, request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
        """Describe brokers; only controllers describe controllers (KIP-919)."""
        asked = request.endpoint_type
        if asked not in _ENDPOINT_TYPES:
            message = f"Unsupported endpoint type {asked}"
            return _refused(call, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, message)
        if asked != _BROKER:
            wanted = f"but we wanted an endpoint of type {_ENDPOINT_TYPES[asked]}"
            message = f"The request was sent to an endpoint of type {_ENDPOINT_TYPES[_BROKER]}, {wanted}"
            return _refused(call, ErrorCode.MISMATCHED_ENDPOINT_TYPE, message)
        own, listener = self._cluster, call.session.listener
        nodes = self._nodes.all(listener) if request.include_fenced_brokers else self._nodes.live(listener)
        brokers = (
            DescribeClusterResponse.DescribeClusterBroker(
                node.node_id, node.host, node.port, node.rack, is_fenced=node.is_fenced
            )
            for node in nodes
        )
        operations = NO_OPERATIONS_REQUESTED
        if request.include_cluster_authorized_operations:
            operations = self._access.operations(call.session, ResourceType.CLUSTER, CLUSTER_NAME)
        return DescribeClusterResponse(
            endpoint_type=_BROKER,
            cluster_id=own.cluster_id,
            controller_id=own.node_id,
            brokers=tuple(brokers),
            cluster_authorized_operations=operations,
        )


def _refused(call: Call, code: ErrorCode, message: str) -> DescribeClusterResponse:
    if call.version == 0:
        code = ErrorCode.INVALID_REQUEST
    return DescribeClusterResponse(error_code=code, error_message=message)
