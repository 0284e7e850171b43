"""Rules about the text of a file, applied while it is read."""

from __future__ import annotations

from kafkawire.codegen.check.rule import Rule

FILE_UNREADABLE = Rule(
    "file-unreadable",
    "Every file and folder that is named can be opened and read.",
    "check the path and its permissions",
)
FILE_DISCOVERY = Rule(
    "file-discovery",
    "A folder of definitions contains at least one *.json file, also in its sub-folders.",
    "name the folder that contains the definitions",
)
FILE_ENCODING = Rule(
    "file-encoding",
    "A file is UTF-8 without a byte order mark, and its texts are complete Unicode characters.",
    "save the file as UTF-8 without a byte order mark",
)
FILE_NESTING = Rule(
    "file-nesting",
    "Objects and lists are nested at most 64 deep.",
    "flatten the structure; real definitions nest about ten deep",
)
FILE_DUPLICATE_KEY = Rule(
    "file-duplicate-key", "A key that is repeated in an object has the same value each time.", "keep one of the two"
)
JSON_SYNTAX = Rule(
    "json-syntax",
    "A file is strict JSON plus // and /* */ comments.",
    "write it as strict JSON: double quotes, a comma between items and none after the last, no bare words",
)
JSON_TRAILING_TOKENS = Rule(
    "json-trailing-tokens",
    "Only white space and comments follow the object of a file.",
    "remove what follows the last brace; a file has one message",
)
JSON_UNKNOWN_ATTRIBUTE = Rule(
    "json-unknown-attribute",
    "A message, struct or field has only attributes of the definition language.",
    "remove the attribute, or write a comment instead",
)
JSON_WRONG_KIND = Rule(
    "json-wrong-kind", "A value has the kind that its attribute requires.", "write a value of the required kind"
)
JSON_BAD_ENUM = Rule(
    "json-bad-enum",
    "Values of type, listeners and entityType are values of the definition language, with the same letter case.",
    "write one of the known values",
)
VERSIONS_NOT_A_NUMBER = Rule(
    "versions-not-a-number",
    "The bounds of a version range are decimal numbers from 0 to 32767.",
    'write a range as "3", "0-3", "2+" or "none", without spaces inside',
)
VERSIONS_NEGATIVE = Rule(
    "versions-negative",
    "The bounds of a version range are not negative.",
    'begin at 0, or write "none" for no version at all',
)
GAP_REVERSED_RANGE = Rule(
    "gap-reversed-range",
    "The lower bound of a version range comes first; a reversed range has no version.",
    'swap the bounds, or write "none"',
    "warning",
)
GAP_LEADING_ZERO = Rule(
    "gap-leading-zero",
    "The bounds of a version range have no leading zeros.",
    "write the number without zeros, or add the missing dash",
    "warning",
)
