"""What a fault does to a request."""

from __future__ import annotations

from typing import TypeAlias

from kafkawire.broker.faults.chance import Draws
from kafkawire.wire.message import Struct


class Delay(Struct, frozen=True, gc=False):
    """The request is handled later."""

    seconds: float


class Drop(Struct, frozen=True, gc=False):
    """The connection is closed without a response."""

    after_handling: bool


class Refuse(Struct, frozen=True, gc=False):
    """The request, or what the fault concerns in it, is not handled; the response is an error."""

    code: int
    message: str | None = None


class Throttle(Struct, frozen=True, gc=False):
    """The response has a throttle time."""

    milliseconds: int


class Cap(Struct, frozen=True, gc=False):
    """No version above this one is offered; none at all for -1."""

    highest: int


Action: TypeAlias = Delay | Drop | Refuse | Throttle | Cap | Draws
