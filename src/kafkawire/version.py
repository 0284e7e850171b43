"""The version of kafkawire: brokers get it with each connection, so reading it must cost nothing."""

from __future__ import annotations

__version__ = "0.1.0"
