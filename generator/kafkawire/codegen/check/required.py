"""Rules about required attributes and types, applied while a file is read.

They check what is *written*: the definition that results from reading has placeholders or defaults instead.
"""

from __future__ import annotations

from kafkawire.codegen.check.rule import Rule

MESSAGE_NAME_REQUIRED = Rule(
    "message-name-required", "A message has a name.", 'add "name", for instance "name": "CreateTopicsRequest"'
)
MESSAGE_NAME_PATTERN = Rule(
    "message-name-pattern",
    "The name of a message consists of letters and digits and begins with a letter; files and classes have that name.",
    "use letters and digits only, as in CreateTopicsRequest",
)
MESSAGE_TYPE_REQUIRED = Rule(
    "message-type-required", "A message has a type.", 'add "type", for instance "type": "request"'
)
MESSAGE_VALID_VERSIONS_REQUIRED = Rule(
    "message-valid-versions-required",
    "A message states the versions that exist.",
    'add "validVersions", for instance "0-3", or "none" for a retired message',
)
MESSAGE_FLEXIBLE_REQUIRED = Rule(
    "message-flexible-required",
    "A message with valid versions states which of them are flexible.",
    'add "flexibleVersions", for instance "0+", or "none"',
)
FIELD_NAME_REQUIRED = Rule("field-name-required", "A field has a name.", 'add "name", for instance "name": "TopicId"')
FIELD_NAME_PATTERN = Rule(
    "field-name-pattern",
    "The name of a field consists of letters and digits and begins with a letter.",
    "use letters and digits only, as in TopicId",
)
FIELD_VERSIONS_REQUIRED = Rule(
    "field-versions-required",
    "A field states its versions, unless it has tagged versions, which are the default.",
    'add "versions", for instance "versions": "0+"',
)
FIELD_STRUCT_EXPLICIT_VERSIONS = Rule(
    "field-struct-explicit-versions",
    "A field that declares an inline struct states its versions, tagged or not.",
    'add "versions", which are also those of the struct',
)
FIELD_TYPE_REQUIRED = Rule("field-type-required", "A field has a type.", 'add "type", for instance "type": "int32"')
FIELD_TYPE_UNKNOWN = Rule(
    "field-type-unknown",
    "A type is a primitive, the capitalised name of a struct, or an array of one of these.",
    "use one of bool, int8, int16, uint16, int32, uint32, int64, uuid, float64, string, bytes, records, "
    "a struct name that begins with a capital, or [] before one of them",
)
FIELD_TYPE_ARRAY_EMPTY = Rule(
    "field-type-array-empty",
    "An array type names its element type.",
    "write the element type after the brackets, as in []int32",
)
FIELD_TYPE_ARRAY_OF_ARRAY = Rule(
    "field-type-array-of-array",
    "The elements of an array are not arrays.",
    "put the inner array into a struct with one field",
)
STRUCT_NAME_REQUIRED = Rule(
    "struct-name-required", "A common struct has a name.", 'add "name", for instance "name": "TopicPartitions"'
)
STRUCT_VERSIONS_REQUIRED = Rule(
    "struct-versions-required", "A common struct states its versions.", 'add "versions", for instance "versions": "0+"'
)
