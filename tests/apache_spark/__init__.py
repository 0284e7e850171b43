"""Apache Spark for tests: a session on this machine, and a cluster of two workers."""

from __future__ import annotations
