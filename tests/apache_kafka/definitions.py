"""The definitions of releases, as ``kafkawire schema`` compares them."""

from __future__ import annotations

from tests.apache_kafka.prerequisites import lacking

from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.side import OriginError, Side


def side_of_release(version: str) -> Side:
    """The definitions of a release, from the user's cache or by way of Maven."""
    try:
        return load_side(f"kafka:{version}")
    except OriginError as error:
        lacking(str(error))
