"""The machine and the libraries of the measurements."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from kafkawire import wire

LIBRARIES = ("msgspec", "kio", "kafka-python")


def machine_facts(libraries: Sequence[str] = LIBRARIES) -> list[tuple[str, str]]:
    """Label and value of each fact that the figures depend on.

    Args:
        libraries: the distributions whose versions are listed.
    """
    return [
        ("Processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("System", platform.platform(terse=True)),
        ("Engine of kafkawire", wire.ENGINE),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in libraries)),
        ("Measured", datetime.now(UTC).date().isoformat()),
    ]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            label, _, value = line.partition(":")
            if label.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
