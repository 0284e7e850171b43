"""Rules about ``field-meanings.toml``: the sentences that say what fields are."""

from __future__ import annotations

from kafkawire.codegen.check.rule import Rule

MEANING_FILE = Rule(
    "meaning-file",
    "field-meanings.toml is TOML with the tables [fields] and [messages.NAME], in which each value is a text.",
    'write Name = "Sentence." below [fields], or "Path.To.Field" = "Sentence." below [messages.NAME]',
)
MEANING_DUPLICATE = Rule(
    "meaning-duplicate", "A field has one sentence in a table of field-meanings.toml.", "keep one of the two"
)
MEANING_EMPTY = Rule(
    "meaning-empty",
    "A sentence in field-meanings.toml is not empty.",
    "write the sentence or remove the line",
    "warning",
)
MEANING_SENTENCE = Rule(
    "meaning-sentence",
    "A sentence in field-meanings.toml is on one line and ends with a full stop.",
    "write a sentence on one line, with a full stop at its end",
    "warning",
)
MEANING_UNKNOWN_NAME = Rule(
    "meaning-unknown-name",
    "Each name in field-meanings.toml is that of a message or field of the folder.",
    "correct the name or remove the line",
    "warning",
)
