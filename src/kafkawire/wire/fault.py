"""What is wrong with a value or with bytes, on its way out to whoever knows the message."""

from __future__ import annotations


class FaultError(Exception):
    """Something wrong within a message. Each level that it passes adds its step, so that nothing is tracked before.

    Attributes:
        kind: as in :mod:`kafkawire.wire.errors`.
        reason: what is wrong, in one sentence, without the contents of texts and octets.
        offset: position in the buffer, or None where there is none.
    """

    def __init__(self, kind: str, reason: str, offset: int | None = None) -> None:
        self.kind = kind
        self.reason = reason
        self.offset = offset
        self._steps: list[str] = []
        super().__init__(reason)

    def inside_field(self, attribute: str) -> None:
        """Say that it is within a field."""
        self._steps.append(f".{attribute}")

    def inside_element(self, index: int) -> None:
        """Say that it is within an element of an array."""
        self._steps.append(f"[{index}]")

    @property
    def path(self) -> str:
        """From the outermost step inwards: ``topics[3].name``."""
        return "".join(reversed(self._steps)).removeprefix(".")
