"""The rules of Kafka's own schema checker, as data.

They are those of ``MetadataSchemaCheckerTool`` in Kafka's artifact ``generator``, release 4.3.1. The letter is the
stage at which the checker applies them: A compares the messages, B looks at each definition by itself, R enters the
structs of each in a table, C compares field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkawire.codegen.check.rule import Rule

# Stage A

API_KEY = Rule("evo-api-key", "The API key stays the same; none at all counts as a value.", "restore the key")
TYPE = Rule("evo-type", "The type of the message stays the same.", "restore the type")
FLEXIBLE_SHRINKS = Rule(
    "evo-flexible-shrinks",
    "The flexible versions of the older definition are flexible in the newer one.",
    "begin the flexible versions no later than before",
)
MAX_VERSION_LOWER = Rule(
    "evo-max-version-lower",
    "The highest valid version is not lowered.",
    "restore the highest version",
)
MIN_VERSION_LOWER = Rule(
    "evo-min-version-lower",
    "The lowest valid version is not lowered; versions that were dropped do not come back.",
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
    "Flexible versions of a field's own share a version with the valid versions of its message; none never do.",
    "remove the field's own flexibleVersions, or leave the file out of what Kafka's checker sees",
)

# Stage R

COMMON_CAPITALISED = Rule(
    "struct-common-capitalised",
    "The name of a common struct begins with a capital.",
    "capitalise the name",
)
COMMON_UNIQUE = Rule(
    "struct-common-unique",
    "No two common structs of a message have the same name.",
    "rename or remove one of them",
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
    "The lower of a field's highest version and the highest nullable version of the older definition is not below "
    "the lower of the highest version of the older definition and the highest nullable version; the operands are "
    "crossed in Kafka's checker, so that it refuses a field that becomes nullable and not one that ceases to be.",
    "restore nullableVersions, as no field can become nullable under Kafka's checker",
)
MIN_NULLABLE_DIFFERS = Rule(
    "evo-min-nullable-differs",
    "The lowest nullable version of a field stays the same; a field that is never nullable counts as one from 0 on.",
    "restore the begin of nullableVersions",
)
FIELD_FLEXIBLE_SHRINKS = Rule(
    "evo-field-flexible-shrinks",
    "The flexible versions of a field, its own or the message's, hold those of the older definition.",
    "restore the field's own flexibleVersions",
)
DEFAULT_DIFFERS = Rule(
    "evo-default-differs",
    "The text of a field's default stays the same; none is the empty text.",
    "restore the default, letter by letter",
)
TAGGED_OUTSIDE_FLEXIBLE = Rule(
    "evo-tagged-outside-flexible",
    "The tagged versions of a field without flexible versions of its own lie inside those of the message.",
    "begin taggedVersions no earlier than the flexible versions of the message",
)
STRUCT_UNKNOWN = Rule(
    "evo-struct-unknown",
    "Kafka's checker finds the fields of a struct: written where it is used, or under the type of an array, the name "
    "of a single field, or the name of a message without fields.",
    "name the field like its common struct, or leave the file out of what Kafka's checker sees",
)
STRUCT_ENDLESS = Rule(
    "evo-struct-endless",
    "No struct leads back to itself in the eyes of Kafka's checker, which would run out of stack.",
    "rename the field, which is taken for another struct, or break the circle",
)
PAIR_OLD_MISPLACED = Rule(
    "evo-pair-old-misplaced",
    "A field of the older definition occurs in a version that is valid there.",
    "correct the versions of the field in the older definition",
)
PAIR_NEW_MISPLACED = Rule(
    "evo-pair-new-misplaced",
    "A field of the newer definition occurs in a version that is valid there.",
    "remove the field, or correct its versions",
)
PAIR_MISSING_OLD = Rule(
    "evo-pair-missing-old",
    "Every field of the newer definition that occurs in a version valid in the older one has a partner there.",
    "begin the versions of a new field in a new version of the message, even if it is tagged",
)

_RULES = (
    API_KEY, TYPE, FLEXIBLE_SHRINKS, MAX_VERSION_LOWER, MIN_VERSION_LOWER,
    FIELD_NEVER_VALID, NULLABLE_NEVER_VALID, TAGGED_NEVER_VALID, OVERRIDE_NEVER_VALID,
    COMMON_CAPITALISED, COMMON_UNIQUE, COMMON_RESPECIFIED, INLINE_UNIQUE,
    TYPE_DIFFERS, MAX_EFFECTIVE_LOWER, MIN_EFFECTIVE_DIFFERS, MAX_NULLABLE_LOWER, MIN_NULLABLE_DIFFERS,
    FIELD_FLEXIBLE_SHRINKS, DEFAULT_DIFFERS, TAGGED_OUTSIDE_FLEXIBLE, STRUCT_UNKNOWN, STRUCT_ENDLESS,
    PAIR_OLD_MISPLACED, PAIR_NEW_MISPLACED, PAIR_MISSING_OLD,
)  # fmt: skip

UPSTREAM_RULES: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in _RULES})
"""The rules by id, in the order in which Kafka's checker applies them."""
