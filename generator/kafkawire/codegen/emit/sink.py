"""Where generated code puts the bytes that it writes: statements for the three ways of gathering them.

A message with arrays of structs gathers in one bytearray, which is the fastest for many small values. A message with
octets gathers pieces in a list: large octets are then copied only once. Any other message that calls no other writer
is small, so its ``bytes`` are concatenated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from kafkawire.codegen.emit.used_names import UsedNames


@dataclass(frozen=True, slots=True)
class Sink:
    """A local variable that gathers bytes.

    Attributes:
        name: the variable.
        form: its type.
        use: notes the names that the statements use.
        views: whether the pieces of a list may be views.
    """

    name: str
    form: Literal["bytearray", "list", "bytes"]
    use: UsedNames
    views: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a list of pieces."""
        return self.form == "list"

    @property
    def annotation(self) -> str:
        """The type of the variable."""
        return f"list[{self.use('RecordBytes') if self.views else 'bytes'}]" if self.is_list else self.form

    @property
    def new(self) -> str:
        """The statement that makes an empty one."""
        return f"{self.name} = {'[]' if self.is_list else 'bytearray()' if self.form == 'bytearray' else _EMPTY}"

    @property
    def declared(self) -> str:
        """The same where the variable is new."""
        return f"{self.name}: {self.annotation} = []" if self.is_list else self.new

    @property
    def whole(self) -> str:
        """All that was gathered, as bytes."""
        if self.is_list:
            return f'b"".join({self.name})'
        return f"bytes({self.name})" if self.form == "bytearray" else self.name

    @property
    def payload(self) -> Sink:
        """A second one, for the payload of a tagged field."""
        return replace(self, name="payload")

    def add(self, *octets: str) -> str:
        """The statement that adds bytes; a list takes several at a time."""
        if self.is_list and len(octets) > 1:
            return f"{self.name} += ({', '.join(octets)})"
        return f"{self.name}.append({octets[0]})" if self.is_list else f"{self.name} += {octets[0]}"

    def add_byte(self, number: str | int) -> str:
        """The statement that adds one byte."""
        if self.form == "bytearray":
            return f"{self.name}.append({number})"
        return self.add(f'b"\\x{number:02x}"' if isinstance(number, int) else f"{self.use('BYTES')}[{number}]")

    def replace_last_byte(self, octets: str) -> str:
        """The statement that puts bytes in the place of the last byte."""
        if self.form == "bytearray":
            return f"{self.name}[-1:] = {octets}"
        if self.form == "bytes":
            return f"{self.name} = {self.name}[:-1] + {octets}"
        last = f"{self.name}[-1][:-1]"
        return f"{self.name}[-1] = {f'bytes({last})' if self.views else last} + {octets}"

    def __str__(self) -> str:
        return self.name


_EMPTY = 'b""'
