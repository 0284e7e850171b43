"""The names that a generated module uses: noted where they are printed, so that the head of the module has them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

STRUCTS = "kafkawire.wire.structs"
"""The module of the functions that codecs call."""

RUN_TIME_NAMES = {
    "kafkawire.wire": ("Message", "RecordBytes", "Struct", "Uuid"),
    "kafkawire.wire.engine": ("codecs",),
    "kafkawire.wire.entities": ("BrokerId", "GroupId", "ProducerId", "TopicName", "TransactionalId"),
    STRUCTS: (
        "BYTES", "NOTHING", "NULL_COUNT", "NULL_OCTETS", "NULL_TEXT", "Tags", "ZERO_UUID", "compact_nullable_structs",
        "compact_structs", "differs", "dumper", "nullable_structs", "structs",
        "iterator", "loader", "long_length", "long_nullable_numbers", "long_nullable_text", "long_numbers",
        "long_text", "long_text_length", "many_numbers", "octets", "pack_numbers", "packer", "packers",
        "paired_packers", "read_uvarint", "reduce_views", "rest_of_uvarint", "sequence", "tagged_entries",
        "tagged_section", "text_packers", "text_pair_packers", "text_unpackers", "unknown_tags", "unpacker",
        "unpackers",
    ),
}  # fmt: skip
"""The names that generated modules may import of kafkawire, by module."""

STANDARD_LIBRARY = {"collections.abc": ("Sequence",), "itertools": ("starmap",)}
"""The names that they may import of the standard library."""

MAKERS = {
    "unpack": "unpacker",
    "unpack_many": "unpackers",
    "unpack_text": "text_unpackers",
    "iterate": "iterator",
    "load": "loader",
    "pack": "packer",
    "pack_many": "packers",
    "pack_text": "text_packers",
    "pack_pair": "text_pair_packers",
    "pack_paired": "paired_packers",
    "dump": "dumper",
}
"""The functions that modules make for themselves: first word of the name to what makes them of ``struct`` codes."""

_MODULES = {name: module for names in (STANDARD_LIBRARY, RUN_TIME_NAMES) for module in names for name in names[module]}


class UsedNames:
    """The names that one module uses."""

    def __init__(self) -> None:
        self._imported: set[str] = set()
        self._uses_msgspec = False
        self._made: dict[tuple[str, tuple[str, ...]], str] = {}

    def __call__(self, name: str) -> str:
        """The name, which the module imports.

        Raises:
            KeyError: if the name is in no table of this module.
        """
        if name == "msgspec":
            self._uses_msgspec = True
        else:
            _ = _MODULES[name]
            self._imported.add(name)
        return name

    def annotation(self, name: str) -> str:
        """The name of a type, which the module imports unless it is built in."""
        return self(name) if name in _MODULES else name

    def function(self, kind: str, *codes: str) -> str:
        """The name of a function that the module makes of ``struct`` codes, or of the name of a field type.

        Args:
            kind: one of ``MAKERS``.
            codes: what the function is made of.
        """
        maker = self(MAKERS[kind])
        name = f"_{kind}_{'_'.join(code.replace('?', 'z') for code in codes)}"
        arguments = ", ".join(f'"{code}"' for code in codes)
        self._made[kind, codes] = f"{name} = {maker}({arguments})"
        return name

    @property
    def imports(self) -> str:
        """The lines that import the names."""
        blocks = [
            list(self._import_lines(STANDARD_LIBRARY)),
            ["import msgspec"] if self._uses_msgspec else [],
            list(self._import_lines(RUN_TIME_NAMES)),
        ]
        return "\n\n".join("\n".join(lines) for lines in blocks if lines)

    @property
    def functions(self) -> str:
        """The lines that make the functions."""
        kinds = list(MAKERS)
        return "\n".join(self._made[key] for key in sorted(self._made, key=lambda key: (kinds.index(key[0]), key[1])))

    def _import_lines(self, names_of: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
        for module, names in names_of.items():
            needed = sorted(self._imported.intersection(names))
            if needed:
                yield f"from {module} import {', '.join(needed)}"
