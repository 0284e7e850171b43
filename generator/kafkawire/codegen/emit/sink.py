"""Where generated code puts the bytes that it writes: statements for the two ways of gathering them.

A message with arrays of structs gathers in one bytearray, which is the fastest for many small values. A message with
octets, or without such arrays, gathers pieces in a list: large octets are then copied only once, and small messages
are spared two copies.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sink:
    """A local variable that gathers bytes.

    Attributes:
        name: the variable.
        is_list: whether it is a list of bytes; a bytearray otherwise.
    """

    name: str
    is_list: bool

    @property
    def annotation(self) -> str:
        """The type of the variable."""
        return "list[bytes]" if self.is_list else "bytearray"

    @property
    def new(self) -> str:
        """An empty one."""
        return "[]" if self.is_list else "bytearray()"

    @property
    def whole(self) -> str:
        """All that was gathered, as bytes."""
        return f'b"".join({self.name})' if self.is_list else f"bytes({self.name})"

    @property
    def payload(self) -> Sink:
        """A second one, for the payload of a tagged field."""
        return Sink("payload", self.is_list)

    def add(self, octets: str) -> str:
        """The statement that goes on with bytes."""
        return f"{self.name}.append({octets})" if self.is_list else f"{self.name} += {octets}"

    def add_byte(self, number: str | int) -> str:
        """The statement that goes on with one byte."""
        return f"{self.name}.append({f'BYTES[{number}]' if self.is_list else number})"

    def replace_last_byte(self, octets: str) -> str:
        """The statement that puts bytes in the place of the last byte."""
        if self.is_list:
            return f"{self.name}[-1] = {self.name}[-1][:-1] + {octets}"
        return f"{self.name}[-1:] = {octets}"

    def __str__(self) -> str:
        return self.name
