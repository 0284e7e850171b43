"""The embedded broker as one side of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.interop.broker.same_answers.talk import Side

from kafkawire.broker import ThreadedBroker

_SASL_LISTENER = "SASL_PLAINTEXT"


@contextmanager
def embedded_side(properties: Mapping[str, str], release: str | None = None) -> Iterator[Side]:
    """Start an embedded broker that answers as a release; it is stopped when the context ends."""
    with ThreadedBroker(properties, release=release) as broker:
        has_sasl = f"{_SASL_LISTENER}://" in properties.get("listeners", "")
        sasl_port = int(broker.address(_SASL_LISTENER).rpartition(":")[2]) if has_sasl else 0
        yield Side("the embedded broker", broker.host, broker.port, sasl_port)
