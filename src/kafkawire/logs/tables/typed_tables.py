"""A table for each record type, with a column for each field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.columns import MessageColumns
from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC, RecordRegistry
from kafkawire.logs.tables.coordinator_converter import CoordinatorConverter
from kafkawire.logs.tables.enum_names import ENUM_FIELDS
from kafkawire.logs.tables.metadata_converter import MetadataConverter
from kafkawire.logs.tables.output_columns import OutputColumn
from kafkawire.logs.tables.record_table import RecordTable
from kafkawire.logs.tables.record_types import snake_case
from kafkawire.logs.tables.secret_records import SECRET_FIELDS, hides_config
from kafkawire.logs.tables.table import PROVENANCE
from kafkawire.model.configs.sensitive import HIDDEN
from kafkawire.wire.record_types import CoordinatorRecordType

_RECORD: Final = "Record"
_VERSION: Final = (pa.field("record_version", pa.int16()), ColumnRole.DETAIL)
_CONFIG_VALUE: Final = ("ConfigRecord", "value")


def typed_table_names(registry: RecordRegistry) -> tuple[str, ...]:
    """The names of the tables, made from the names of the record types."""
    metadata = (_metadata_table_name(name) for name in registry.metadata.values())
    coordinators = (snake_case(each.name) for types in registry.coordinators.values() for each in types.values())
    return (*metadata, *coordinators)


def typed_table(name: str, options: ReadOptions) -> RecordTable | None:
    """The table of a record type, or None if there is no such type.

    Raises:
        UnknownColumnError: the options choose a column that the table does not have.
    """
    registry = options.registry
    for number, message in registry.metadata.items():
        if _metadata_table_name(message) == name:
            return _metadata_table(name, number, message, options)
    for topic, types in registry.coordinators.items():
        for known in types.values():
            if snake_case(known.name) == name:
                return _coordinator_table(name, topic, known, options)
    return None


def _metadata_table_name(message: str) -> str:
    return snake_case(message.removesuffix(_RECORD))


def _metadata_table(name: str, number: int, message: str, options: ReadOptions) -> RecordTable:
    columns = options.registry.columns(message)
    taken = {field.name for field in PROVENANCE} | {"record_version"}
    outputs = tuple(_outputs("value", columns, taken, options))
    converter = MetadataConverter(number, columns, outputs)
    fields = (_VERSION, *((each.field, each.role) for each in outputs))
    return RecordTable(name, frozenset((METADATA_TOPIC,)), fields, converter, options)


def _coordinator_table(name: str, topic: str, known: CoordinatorRecordType, options: ReadOptions) -> RecordTable:
    key, value = options.registry.columns(known.key), options.registry.columns(known.value)
    taken = {field.name for field in PROVENANCE} | {"record_version", "tombstone"}
    outputs = (*_outputs("key", key, taken, options), *_outputs("value", value, taken, options))
    converter = CoordinatorConverter(known, key, value, outputs, options)
    fields = (
        _VERSION,
        *((each.field, each.role) for each in outputs),
        (pa.field("tombstone", pa.bool_()), ColumnRole.VALUE),
    )
    return RecordTable(name, frozenset((topic,)), fields, converter, options)


def _outputs(side: str, columns: MessageColumns, taken: set[str], options: ReadOptions) -> Iterator[OutputColumn]:
    """The columns of the fields of a message. A name that is taken gets a prefix; an enumeration has two columns."""
    message = columns.message.NAME
    ids = _ids_beside_names(columns)
    hidden = () if options.secrets else SECRET_FIELDS.get(message, ())
    for index, field in enumerate(columns.schema):
        if field.name in hidden:
            continue
        name = field.name if field.name not in taken else f"record_{field.name}"
        taken.add(name)
        names = ENUM_FIELDS.get((message, field.name))
        if (message, field.name) == _CONFIG_VALUE and not options.secrets:
            yield OutputColumn(pa.field(name, field.type), side, index, masked=partial(_masked_values, columns))
        elif names is None:
            yield OutputColumn(pa.field(name, field.type), side, index, is_detail=field.name in ids)
        else:
            taken.add(f"{name}_code")
            yield OutputColumn(pa.field(name, pa.string()), side, index, names)
            yield OutputColumn(pa.field(f"{name}_code", field.type), side, index, is_detail=True)


def _ids_beside_names(columns: MessageColumns) -> frozenset[str]:
    """The ids among the fields of a message that has texts too, which identify it for people."""
    fields = [each for each in columns.message.layouts().layouts[0].fields if not each.array]
    has_texts = any(each.type == "string" for each in fields)
    return frozenset(each.attribute for each in fields if each.type == "uuid" and has_texts)


def _masked_values(columns: MessageColumns, arrays: Sequence[ArrowArray]) -> ArrowArray:
    """The values of configurations, with sensitive ones hidden."""
    types, names, values = (_cells(columns, arrays, each) for each in ("resource_type", "name", "value"))
    shown = [
        HIDDEN if value is not None and hides_config(type_, name) else value
        for type_, name, value in zip(types, names, values, strict=True)
    ]
    made: ArrowArray = pa.array(shown, pa.string())
    return made


def _cells(columns: MessageColumns, arrays: Sequence[ArrowArray], name: str) -> list[object]:
    return [each.as_py() for each in arrays[columns.schema.get_field_index(name)]]
