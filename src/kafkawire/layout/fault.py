"""The error inside a message. The codec raises its own error from it, with the message's name and version."""

from __future__ import annotations


class FaultError(Exception):
    """A fault in a message. Each level that the exception passes adds its step to the path.

    Attributes:
        kind: as in :mod:`kafkawire.wire.errors`.
        reason: the fault in one sentence, without the contents of texts and octets.
        offset: position in the buffer; None for a value.
    """

    def __init__(self, kind: str, reason: str, offset: int | None = None) -> None:
        self.kind = kind
        self.reason = reason
        self.offset = offset
        self._steps: list[str] = []
        super().__init__(reason)

    def inside_field(self, attribute: str) -> None:
        """Add the field that contains the fault to the path."""
        self._steps.append(f".{attribute}")

    def inside_element(self, index: int) -> None:
        """Add the element of an array that contains the fault to the path."""
        self._steps.append(f"[{index}]")

    @property
    def path(self) -> str:
        """From the outermost step inwards: ``topics[3].name``."""
        return "".join(reversed(self._steps)).removeprefix(".")
