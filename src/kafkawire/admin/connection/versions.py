"""The API versions of a broker, and the choice of the version of a request (KIP-35, KIP-511, KIP-584)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from kafkawire import protocol
from kafkawire.admin.connection.spoken_versions import spoken_versions
from kafkawire.protocol.errors import UnsupportedVersionError
from kafkawire.rpc import api_of
from kafkawire.wire import EncodeError, Message

_NONE = range(0)
_EMPTY: Mapping[str, range] = MappingProxyType({})


class BrokerVersions(msgspec.Struct, frozen=True):
    """The answer to ApiVersions.

    Attributes:
        ranges: API key to the versions that the broker serves; keys that this client lacks included.
        supported_features: name to the levels that the broker supports.
        finalized_features: name to the levels that the cluster has settled on, lowest to highest.
        finalized_features_epoch: how recent these are; -1 if the broker does not say.
        zk_migration_ready: whether a cluster with ZooKeeper may be migrated.
        unknown_tagged_fields: fields of newer brokers: pairs of tag and bytes.
    """

    ranges: Mapping[int, range]
    supported_features: Mapping[str, range] = _EMPTY
    finalized_features: Mapping[str, range] = _EMPTY
    finalized_features_epoch: int = -1
    zk_migration_ready: bool = False
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()

    @classmethod
    def of(cls, answer: protocol.ApiVersionsResponse) -> BrokerVersions:
        """The versions from an answer without an error."""
        return cls(
            ranges={api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys},
            supported_features={
                feature.name: range(feature.min_version, feature.max_version + 1)
                for feature in answer.supported_features
            },
            finalized_features={
                feature.name: range(feature.min_version_level, feature.max_version_level + 1)
                for feature in answer.finalized_features
            },
            finalized_features_epoch=answer.finalized_features_epoch,
            zk_migration_ready=answer.zk_migration_ready,
            unknown_tagged_fields=tuple(answer.unknown_tagged_fields),
        )

    def offered(self, request: Message | type[Message]) -> range:
        """The versions of a request that the broker serves; empty if none.

        Raises:
            ValueError: if it is not a request.
        """
        return self.ranges.get(api_of(request).key, _NONE)

    def choose(
        self,
        request: Message | type[Message],
        *,
        minimum: int | None = None,
        maximum: int | None = None,
        unstable: bool = False,
    ) -> int:
        """The highest version of a request that both sides speak.

        Args:
            request: the request or its class.
            minimum, maximum: the versions that can express the call.
            unstable: whether versions that are not final may be chosen; the broker must offer them too.

        Raises:
            UnsupportedVersionError: if there is none; names the API and the versions of each side.
            LookupError: if the client sends nothing of this API.
            ValueError: if it is not a request.
        """
        api = api_of(request)
        known = spoken_versions(api, unstable=unstable)
        offered = self.ranges.get(api.key, _NONE)
        lowest = max(known.start, offered.start, minimum or 0)
        highest = min(known.stop - 1, offered.stop - 1, *(() if maximum is None else (maximum,)))
        if lowest <= highest:
            return highest
        wanted = f", at least {minimum} is needed" if minimum else ""
        wanted += f", at most {maximum} can be used" if maximum is not None else ""
        raise UnsupportedVersionError(
            f"{api.name}: the broker offers {_in_words(offered)}, this client supports {_in_words(known)}{wanted}"
        )

    def inexpressible(self, request: Message, error: EncodeError) -> UnsupportedVersionError:
        """The error for a field that the version at hand does not have.

        Args:
            request: the request.
            error: the codec's, of kind ``unsupported_field``.
        """
        return UnsupportedVersionError(
            f"{api_of(request).name} v{error.version}: {error.path}: {error.reason}; "
            f"the broker offers {_in_words(self.offered(request))}"
        )


def _in_words(versions: range) -> str:
    if not versions:
        return "no version"
    return f"version {versions[0]}" if len(versions) == 1 else f"versions {versions[0]} to {versions[-1]}"
