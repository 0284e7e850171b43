"""UpdateFeatures (KIP-584, KIP-778)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafkawire.broker.features import ELR_FEATURE, FeatureChange, feature_records
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.protocol import ConfigRecord, FeatureLevelRecord, UpdateFeaturesRequest, UpdateFeaturesResponse
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_RESULTS: Final = range(2)
_NO_ERROR: Final = "NONE"
_FAILED: Final = "The update failed for all features since the following feature had an error: "
_MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
_ALL_BROKERS: Final = ""

_Result = UpdateFeaturesResponse.UpdatableFeatureResult


class FeatureHandlers:
    """Change the finalized levels of features, all or none."""

    def __init__(self, context: HandlerContext) -> None:
        self._cluster = context.cluster
        self._controller = context.controller
        self._configuration = context.configuration
        self._access = context.access
        self.apis = (ServedApi(UpdateFeaturesRequest, self._update, 0, 2),)

    def _update(self, request: UpdateFeaturesRequest, call: Call) -> UpdateFeaturesResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
        changes = {
            update.feature: FeatureChange(update.max_version_level, update.upgrade_type)
            for update in request.feature_updates
        }
        try:
            records = list(feature_records(changes, self._controller.image, self._cluster.node_id))
        except ItemError as error:
            return UpdateFeaturesResponse(0, error.code, f"{_FAILED}{error.message}")
        if not request.validate_only:
            self._controller.commit((*records, *self._records_besides(records)))
        named = request.feature_updates if call.version in _RESULTS else ()
        results = tuple(_Result(update.feature, 0, _NO_ERROR) for update in named)
        return UpdateFeaturesResponse(error_message=None, results=results)

    def _records_besides(self, records: Sequence[FeatureLevelRecord]) -> Sequence[Message]:
        """With eligible leader replicas, all brokers have the same ``min.insync.replicas`` (KIP-966)."""
        if FeatureLevelRecord(ELR_FEATURE, 1) not in records:
            return ()
        configs, broker = self._controller.image.configs, ConfigResourceType.BROKER
        made: list[Message] = []
        if _MIN_INSYNC_REPLICAS not in configs.of(broker, _ALL_BROKERS):
            value = str(self._configuration.static.integer(_MIN_INSYNC_REPLICAS))
            made.append(ConfigRecord(broker, _ALL_BROKERS, _MIN_INSYNC_REPLICAS, value))
        made += [
            ConfigRecord(broker, name, _MIN_INSYNC_REPLICAS, None)
            for kind, name in configs.resources()
            if kind == broker and name != _ALL_BROKERS and _MIN_INSYNC_REPLICAS in configs.of(kind, name)
        ]
        return made
