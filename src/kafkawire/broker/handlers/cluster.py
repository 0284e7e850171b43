"""What a client asks first: ApiVersions and DescribeCluster."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.calls import Call, Routes
from kafkawire.broker.cluster import Cluster
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

__all__ = ["ClusterHandlers"]


class ClusterHandlers:
    """Answers about the cluster as such.

    Args:
        cluster: what there is to tell.
        offered: API key to the versions that are served.
    """

    def __init__(self, cluster: Cluster, offered: Mapping[int, range]) -> None:
        self._cluster = cluster
        self._offered = offered

    @property
    def routes(self) -> Routes:
        """Request to handler."""
        return {ApiVersionsRequest: self._api_versions, DescribeClusterRequest: self._describe_cluster}

    def _api_versions(self, request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
        listed = (ApiVersionsResponse.ApiVersion(key, v[0], v[-1]) for key, v in sorted(self._offered.items()))
        return ApiVersionsResponse(api_keys=tuple(listed))

    def _describe_cluster(self, request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
        own = self._cluster
        node = DescribeClusterResponse.DescribeClusterBroker(own.node_id, own.host, own.port)
        return DescribeClusterResponse(cluster_id=own.cluster_id, controller_id=own.node_id, brokers=(node,))
