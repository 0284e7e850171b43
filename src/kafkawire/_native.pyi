"""The native engine, see native/. Its sources are C; an installation without a C compiler does not have it."""

from kafkawire.wire.programs import StructProgram

FORM: str
"""What a program has; compare with ``kafkawire.wire.programs.FORM``."""

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
