"""What brokers are told about this client (KIP-511)."""

from __future__ import annotations

import re
from functools import cache

SOFTWARE_NAME = "kafkawire"


@cache
def software_version() -> str:
    """The version of this package, in the letters that brokers accept."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 slow to import, needed once

    try:
        return re.sub("[^a-zA-Z0-9.-]", "-", version("kafkawire"))
    except PackageNotFoundError:
        return "unknown"
