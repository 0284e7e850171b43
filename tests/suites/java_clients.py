"""The integration tests of Apache Kafka's Java clients: their jars, and our classes that start clusters for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tests.apache_kafka.java_program import compiled_beside
from tests.apache_kafka.maven import fetched_jars

RELEASE: Final = "4.3.1"
"""The release of Apache Kafka whose tests run."""

_SOURCES: Final = Path(__file__).parent / "packages" / "java_clients"


def class_path() -> str:
    """The class path of the tests; our classes come first."""
    jars = fetched_jars(_SOURCES / "pom.xml", (f"-Dkafka.release={RELEASE}",), "java-clients")
    classes = compiled_beside(jars, _SOURCES, RELEASE, lint="all,-processing,-classfile")
    return os.pathsep.join(map(str, (classes, *jars)))
