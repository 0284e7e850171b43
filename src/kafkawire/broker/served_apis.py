"""The APIs that the broker serves, in the versions of one release of Apache Kafka, whatever the package contains.

Importing the definitions of a newer release adds versions to the package. The broker offers a version only after its
handler implements it and declares it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from kafkawire.broker.refusals import refusal
from kafkawire.broker.requests import Handler
from kafkawire.rpc import api_of
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

RELEASE: Final = "4.3.1"
"""The release of Apache Kafka whose versions the broker offers."""


class ServedApi(Struct, frozen=True):
    """An API, as the handler that answers it declares it.

    Attributes:
        request: the class of its requests.
        handler: answers a request.
        lowest, highest: the versions that brokers of ``RELEASE`` list; ``highest`` is -1 if they list none.
        highest_unstable: the highest version with ``unstable.api.versions.enable``; -1 if that is ``highest``.
        highest_later: the highest version of later releases with a version table; -1 if that is ``highest``.
        refuse: makes the response to a request that is refused as a whole; another function with the arguments of
            `refusal` for an API whose response that does not make as Kafka does.
    """

    request: type[Message]
    handler: Handler
    lowest: int
    highest: int
    highest_unstable: int = -1
    highest_later: int = -1
    refuse: Callable[..., Message] = refusal

    @property
    def api_key(self) -> int:
        """The number of the API."""
        return api_of(self.request).key


def offered_versions(apis: Iterable[ServedApi], *, unstable: bool, later: bool) -> Mapping[int, range]:
    """API key to the versions that clients are offered.

    Args:
        apis: the APIs that are served.
        unstable: whether versions that are not final are offered too (``unstable.api.versions.enable``).
        later: whether versions of releases after ``RELEASE`` are offered too.
    """
    highest = {
        api.api_key: max(api.highest, api.highest_unstable if unstable else -1, api.highest_later if later else -1)
        for api in apis
    }
    return {api.api_key: range(api.lowest, highest[api.api_key] + 1) for api in apis if highest[api.api_key] >= 0}
