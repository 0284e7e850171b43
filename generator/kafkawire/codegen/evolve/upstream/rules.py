"""The rules of Kafka's own schema checker, as data.

They are those of ``MetadataSchemaCheckerTool`` in Kafka's artifact ``generator``, release 4.3.1. The letter is the
stage of the checker: A compares the messages, B checks each definition by itself, R builds a table of the structs of
each, C compares field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkawire.codegen.check.rule import Rule

# Stage A

API_KEY = Rule("evo-api-key", "The API key stays the same; a missing key counts as a value.", "restore the key")
TYPE = Rule("evo-type", "The type of the message stays the same.", "restore the type")
FLEXIBLE_SHRINKS = Rule(
    "evo-flexible-shrinks",
    "The flexible versions of the older definition are flexible in the newer one.",
    "begin the flexible versions no later than before",
)
MAX_VERSION_LOWER = Rule(
    "evo-max-version-lower", "The highest valid version is not lowered.", "restore the highest version"
)
MIN_VERSION_LOWER = Rule(
    "evo-min-version-lower",
    "The lowest valid version is not lowered; a version that was dropped is not valid again.",
    "restore the lowest version",
)

# Stage B

FIELD_NEVER_VALID = Rule(
    "evo-field-never-valid",
    "The versions of a field share a version with the valid versions of its message.",
    "remove the field, or correct its versions",
)
NULLABLE_NEVER_VALID = Rule(
    "evo-nullable-never-valid",
    "The nullable versions of a field, where it has any, share a version with the valid versions of its message.",
    'remove "nullableVersions", or correct them',
)
TAGGED_NEVER_VALID = Rule(
    "evo-tagged-never-valid",
    "The tagged versions of a field that has a tag share a version with the valid versions of its message.",
    'remove "tag" and "taggedVersions", or correct them',
)
OVERRIDE_NEVER_VALID = Rule(
    "evo-override-never-valid",
    "The flexibleVersions of a field share a version with the valid versions of its message; none is rejected.",
    "remove the field's own flexibleVersions, or do not check the file with Kafka's checker",
)

# Stage R

COMMON_CAPITALISED = Rule(
    "struct-common-capitalised", "The name of a common struct begins with a capital.", "capitalise the name"
)
COMMON_UNIQUE = Rule(
    "struct-common-unique", "No two common structs of a message have the same name.", "rename or remove one of them"
)
COMMON_RESPECIFIED = Rule(
    "struct-common-respecified",
    "A field whose type is a common struct does not declare fields.",
    'remove "fields" here, or rename the inline struct',
)
INLINE_UNIQUE = Rule(
    "struct-inline-unique",
    "An inline struct is declared by one field of a message.",
    "move the struct to commonStructs, or give the second one another name",
)

# Stage C

TYPE_DIFFERS = Rule(
    "evo-type-differs",
    "Fields at the same place have the same type, and messages the same name.",
    "restore the type and the order of the fields, or add a field in a new version",
)
MAX_EFFECTIVE_LOWER = Rule(
    "evo-max-effective-lower",
    "The highest version that has a field is not lowered.",
    "restore the end of the field's versions, or end them at the highest version that was valid before",
)
MIN_EFFECTIVE_DIFFERS = Rule(
    "evo-min-effective-differs",
    "The lowest version that has a field stays the same.",
    "restore the begin of the field's versions",
)
MAX_NULLABLE_LOWER = Rule(
    "evo-max-nullable-lower",
    "The highest nullable version of a field is not raised; Kafka's checker swaps two operands, so that it rejects a "
    "field that becomes nullable, and accepts one that is no longer nullable.",
    "restore nullableVersions; Kafka's checker lets no field become nullable",
)
MIN_NULLABLE_DIFFERS = Rule(
    "evo-min-nullable-differs",
    "The lowest nullable version of a field stays the same; it is 0 for a field that is never nullable.",
    "restore the begin of nullableVersions",
)
FIELD_FLEXIBLE_SHRINKS = Rule(
    "evo-field-flexible-shrinks",
    "The flexible versions of a field, or else of its message, contain those of the older definition.",
    "restore the field's own flexibleVersions",
)
DEFAULT_DIFFERS = Rule(
    "evo-default-differs",
    "The text of a field's default stays the same; a missing default is the empty text.",
    "restore the exact text of the default",
)
TAGGED_OUTSIDE_FLEXIBLE = Rule(
    "evo-tagged-outside-flexible",
    "The tagged versions of a field without flexibleVersions are flexible versions of the message.",
    "begin taggedVersions no earlier than the flexible versions of the message",
)
STRUCT_UNKNOWN = Rule(
    "evo-struct-unknown",
    "Kafka's checker finds the fields of a struct: at the field that uses it, or in the struct that is named like the "
    "type of an array, like a field that is no array, or like a message without fields.",
    "name the field like its common struct, or do not check the file with Kafka's checker",
)
STRUCT_ENDLESS = Rule(
    "evo-struct-endless",
    "Kafka's checker finds no struct inside itself; it would run out of stack.",
    "rename the field, for which the checker uses another struct, or break the cycle",
)
PAIR_OLD_MISPLACED = Rule(
    "evo-pair-old-misplaced",
    "A field of the older definition is in a version that is valid there.",
    "correct the versions of the field in the older definition",
)
PAIR_NEW_MISPLACED = Rule(
    "evo-pair-new-misplaced",
    "A field of the newer definition is in a version that is valid there.",
    "remove the field, or correct its versions",
)
PAIR_MISSING_OLD = Rule(
    "evo-pair-missing-old",
    "Every field of the newer definition that is in a version of the older one has a field to be compared with there.",
    "begin the versions of a new field in a new version of the message, even if it is tagged",
)

UPSTREAM_RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.id: rule for rule in tuple(vars().values()) if isinstance(rule, Rule)}
)
"""The rules by id, in the order in which Kafka's checker applies them."""
