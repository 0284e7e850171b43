"""The native engine, see native/. Its sources are C; an installation without a C compiler does not have it."""

from collections.abc import Sequence
from typing import TypeAlias

from kafkawire.wire.programs import StructProgram

FORM: str
"""What a program has; compare with ``kafkawire.wire.programs.FORM``."""

NativeColumn: TypeAlias = "tuple[int, tuple[bytes | None, ...] | None, tuple[NativeColumn, ...]]"
"""The number of values; the buffers as Arrow has them, or None for a field without values; the children."""

class Codec:
    """Reads and writes one message at one version.

    What it refuses it refuses with a ValueError without a text.

    Raises:
        ValueError: if the engine cannot run the program.
    """

    def __new__(cls, program: StructProgram) -> Codec: ...
    def read(self, buffer: bytes, at: int, /) -> tuple[object, int]: ...
    def decode(self, buffer: object, /) -> object: ...
    def write(self, message: object, /) -> bytes: ...
    def columns(
        self, valid: object, offsets: object, octets: object, first: int, count: int, start: int, /
    ) -> tuple[tuple[NativeColumn, ...], list[int]]: ...

class RecordCodec:
    """Reads batches of magic 2, and reads and writes their records; refuses like ``Codec``.

    Raises:
        ValueError: if objects of the classes have a form that the engine does not know.
    """

    def __new__(cls, record: type[object], header: type[object], batch: type[object]) -> RecordCodec: ...
    def read(
        self,
        data: bytes,
        at: int,
        count: int,
        base_offset: int,
        base_timestamp: int,
        append_time: int | None,
        keep_headers: bool,
        /,
    ) -> tuple[tuple[object, ...], int]: ...
    def write(
        self,
        records: Sequence[object],
        offsets: Sequence[int],
        timestamps: Sequence[int],
        base_offset: int,
        base_timestamp: int,
        /,
    ) -> bytes: ...
    def read_batches(self, data: bytes, at: int, most: int, largest: int, position: int, /) -> list[object]: ...
    def columns(self, batches: tuple[object, ...], payloads: tuple[bytes, ...], /) -> tuple[NativeColumn, ...]: ...
    def some_columns(
        self, batch: object, payload: bytes, at: int, most_records: int, most_octets: int, /
    ) -> tuple[tuple[NativeColumn, ...], int]: ...

class Rows:
    """Makes sorted rows of structs and the elements of an array in each; refuses like ``Codec``.

    A source is the field of a row, whether an element has its value, the field there, and the members of an
    enumeration by number or None for a text. The first source is such a number, the second one a text.

    Raises:
        ValueError: if objects of the classes have a form that the engine does not know, or the sources do.
    """

    def __new__(
        cls,
        row: type[object],
        struct: type[object],
        elements: str,
        element: type[object],
        sources: tuple[tuple[str, bool, str, dict[int, object] | None], ...],
        /,
    ) -> Rows: ...
    def of(self, structs: tuple[object, ...], /) -> list[object]: ...
