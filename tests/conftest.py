"""Fixtures that more than one kind of test uses."""

from __future__ import annotations

pytest_plugins = ["tests.apache_kafka.fixtures"]
