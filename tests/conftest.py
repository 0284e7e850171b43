"""Fixtures that more than one kind of test uses, and how property tests run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.apache_kafka.fixtures"]

# The first text that hypothesis draws on a new machine costs a second (it builds a table of Unicode), which is
# neither a slow strategy nor a slow test. Loading a profile also keeps examples random in CI.
settings.register_profile("kafkawire", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kafkawire")
