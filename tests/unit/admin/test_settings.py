"""The settings of a client, and which values are refused."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from kafkawire.admin.settings import AdminSettings

POSITIVE = [
    field.name for field in msgspec.structs.fields(AdminSettings) if isinstance(field.default, (int, float))
    and not isinstance(field.default, bool)
]  # fmt: skip

MAKE: Callable[..., AdminSettings] = AdminSettings


def test_defaults_are_those_of_kafkas_own_client() -> None:
    settings = AdminSettings()
    assert (settings.request_timeout, settings.call_timeout, settings.metadata_maximum_age) == (30, 60, 300)
    assert (settings.retry_backoff, settings.retry_backoff_maximum) == (0.1, 1)
    assert (settings.reconnect_backoff, settings.reconnect_backoff_maximum, settings.connect_timeout) == (0.05, 1, 10)
    assert settings.idle_timeout == 300


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("value", [0, -1])
def test_times_and_numbers_are_positive(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        MAKE(**{name: value})


def test_a_request_may_not_take_longer_than_its_call() -> None:
    with pytest.raises(ValueError, match="request_timeout"):
        AdminSettings(request_timeout=61)
    AdminSettings(request_timeout=60)


def test_a_short_call_needs_a_short_request_and_the_error_says_so() -> None:
    with pytest.raises(ValueError, match="pass request_timeout=3 too, or a longer call_timeout"):
        AdminSettings(call_timeout=3)
