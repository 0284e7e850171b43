"""What a client asks first: ApiVersions and DescribeCluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkawire.broker.access import CLUSTER_NAME, Access
from kafkawire.broker.calls import Call, Routes
from kafkawire.broker.client_software import says_what_it_is
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.controller import Controller
from kafkawire.broker.registration import SUPPORTED_FEATURES
from kafkawire.model.acls.bindings import ResourceType
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

__all__ = ["ClusterHandlers"]

_KNOWS_LEVEL_0: Final = 4
_BROKER, _CONTROLLER = 1, 2
_ENDPOINT_TYPES: Final = {_BROKER: "BROKER", _CONTROLLER: "CONTROLLER"}
_NOT_ASKED: Final = -(2**31)


class ClusterHandlers:
    """Answers about the cluster as such.

    Args:
        cluster: what there is to tell.
        offered: API key to the versions that are served.
        controller: knows the features of the cluster.
        access: who may know what they may do.
    """

    def __init__(self, cluster: Cluster, offered: Mapping[int, range], controller: Controller, access: Access) -> None:
        self._cluster = cluster
        self._offered = offered
        self._controller = controller
        self._access = access

    @property
    def routes(self) -> Routes:
        """Request to handler."""
        return {ApiVersionsRequest: self._api_versions, DescribeClusterRequest: self._describe_cluster}

    def _api_versions(self, request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
        if not says_what_it_is(request, call.version):
            return ApiVersionsResponse(ErrorCode.INVALID_REQUEST)
        listed = (ApiVersionsResponse.ApiVersion(key, v[0], v[-1]) for key, v in sorted(self._offered.items()))
        supported = (
            ApiVersionsResponse.SupportedFeatureKey(*feature)
            for feature in SUPPORTED_FEATURES
            if feature[1] > 0 or call.version >= _KNOWS_LEVEL_0
        )
        finalized = (
            ApiVersionsResponse.FinalizedFeatureKey(name, level, level)
            for name, level in self._controller.image.features.levels.items()
        )
        return ApiVersionsResponse(
            api_keys=tuple(listed),
            supported_features=tuple(supported),
            finalized_features_epoch=self._controller.end_offset - 1,
            finalized_features=tuple(finalized),
        )

    def _describe_cluster(self, request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
        """Tell about brokers; controllers are told about by controllers (KIP-919)."""
        asked = request.endpoint_type
        if asked not in _ENDPOINT_TYPES:
            message = f"Unsupported endpoint type {asked}"
            return _refused(call, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, message)
        if asked != _BROKER:
            wanted = f"but we wanted an endpoint of type {_ENDPOINT_TYPES[asked]}"
            message = f"The request was sent to an endpoint of type {_ENDPOINT_TYPES[_BROKER]}, {wanted}"
            return _refused(call, ErrorCode.MISMATCHED_ENDPOINT_TYPE, message)
        own, endpoint = self._cluster, self._cluster.endpoint(call.session.listener)
        node = DescribeClusterResponse.DescribeClusterBroker(own.node_id, endpoint.host, endpoint.port, own.rack)
        operations = _NOT_ASKED
        if request.include_cluster_authorized_operations:
            operations = self._access.operations(call.session, ResourceType.CLUSTER, CLUSTER_NAME)
        return DescribeClusterResponse(
            endpoint_type=_BROKER,
            cluster_id=own.cluster_id,
            controller_id=own.node_id,
            brokers=(node,),
            cluster_authorized_operations=operations,
        )


def _refused(call: Call, code: ErrorCode, message: str) -> DescribeClusterResponse:
    if call.version == 0:
        code = ErrorCode.INVALID_REQUEST
    return DescribeClusterResponse(error_code=code, error_message=message)
