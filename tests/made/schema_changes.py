"""For each rule of Kafka's schema checker, successors of a definition that break it, and similar ones that do not.

The unit tests hold the rules against them; the conformance tests ask Kafka's checker whether they are true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.made.release_jars import Json, field, message, retired


@dataclass(frozen=True)
class Example:
    """An older definition, a newer one that breaks a rule, and a newer one that is accepted.

    Attributes:
        what: what the example is about, as the name of its test.
        rule: the rule.
        older, broken, accepted: the definitions.
        accepted_after: the older definition of `accepted`, if it is another one.
        first: the rule of Kafka's own error, if another one is broken before.
    """

    what: str
    rule: str
    older: Json
    broken: Json
    accepted: Json
    accepted_after: Json | None = None
    first: str = ""


def sample(valid: str, *fields: Json, **attributes: object) -> Json:
    """A message that is flexible from 0 on."""
    return message("Sample", valid, fields, **{"flexibleVersions": "0+"} | attributes)


def common(name: str, *fields: Json) -> Json:
    return {"name": name, "versions": "0+", "fields": list(fields)}


X: Final = field("X", "int32", "0+")
Y: Final = field("Y", "string", "0+")


def _x(**attributes: object) -> Json:
    return sample("0-3", X | attributes)


def _y(**attributes: object) -> Json:
    return sample("0-3", Y | attributes)


def _override(versions: str, flexible: str = "0+") -> Json:
    return sample("0-3", field("Y", "string", "0+", flexibleVersions=versions), flexibleVersions=flexible)


def _endless(inner: str) -> Json:
    """A and B of type C each; the checker looks up the structs A and B by their names, each inside the other."""
    return sample(
        "0-3",
        field("A", "[]A", "0+"),
        commonStructs=[common("A", field("B", "C", "0+")), common("B", field(inner, "C", "0+")), common("C", X)],
    )


_RETIRED: Final = retired("Sample", "data", 1) | {"flexibleVersions": "0+", "commonStructs": [common("Sample")]}
_POINT: Final = sample("0-3", field("Point", "Point", "0+"), commonStructs=[common("Point", X)])

EXAMPLES: Final = (
    Example("other key", "evo-api-key", sample("0-3", X, apiKey=1), sample("0-3", X, apiKey=2),
            sample("0-4", X, apiKey=1)),
    Example("key that was none", "evo-api-key", sample("0-3", X), sample("0-3", X, apiKey=0),
            sample("0-3", X, apiKey=None)),
    Example("other type", "evo-type", sample("0-3", X), sample("0-3", X, type="header"), sample("0-3", X)),
    Example("flexible a version later", "evo-flexible-shrinks", sample("0-3", X, flexibleVersions="2+"),
            sample("0-3", X, flexibleVersions="3+"), sample("0-3", X, flexibleVersions="1+")),
    Example("flexible no more, in no valid version", "evo-flexible-shrinks", sample("0-3", X, flexibleVersions="9+"),
            sample("0-3", X, flexibleVersions="none"), sample("0-3", X, flexibleVersions="9+")),
    Example("highest version lost", "evo-max-version-lower", sample("0-3", X), sample("0-2", X), sample("0-4", X)),
    Example("lowest version back", "evo-min-version-lower", sample("1-3", X), sample("0-3", X), sample("2-3", X)),
    Example("retired", "evo-flexible-shrinks", sample("0-3", X), retired("Sample", "data", 1) | {"apiKey": None},
            sample("3", X)),
    Example("field above", "evo-field-never-valid", sample("0-3", X), sample("0-3", X, field("Z", "int8", "4+")),
            sample("0-4", X, field("Z", "int8", "4+"))),
    Example("field below", "evo-field-never-valid", sample("0-3", X, field("Z", "int8", "0-1")),
            sample("2-3", X, field("Z", "int8", "0-1")), sample("1-3", X, field("Z", "int8", "0-1"))),
    Example("field of an unused common struct", "evo-field-never-valid", sample("0-3", X),
            sample("0-3", X, commonStructs=[common("S", field("Z", "int8", "4+"))]),
            sample("0-3", X, commonStructs=[common("S", field("Z", "int8", "3+"))])),
    Example("field inside a field", "evo-field-never-valid", sample("0-3", X),
            sample("0-4", X, field("S", "[]S", "4", fields=[field("Z", "int8", "5+")])),
            sample("0-4", X, field("S", "[]S", "4", fields=[field("Z", "int8", "0-3")]))),
    Example("fields of an array of numbers", "evo-field-never-valid", sample("0-3", field("N", "[]int32", "0+")),
            sample("0-3", field("N", "[]int32", "0+", fields=[field("Z", "int8", "9")])),
            sample("0-3", field("N", "[]int32", "0+", fields=[field("Z", "int8", "0")]))),
    Example("null above", "evo-nullable-never-valid", _y(), _y(nullableVersions="4+"), _y(nullableVersions="none")),
    Example("tag above", "evo-tagged-never-valid", _x(), _x(tag=0, taggedVersions="4+"),
            _x(tag=0, taggedVersions="3+")),
    Example("no flexible versions of its own", "evo-override-never-valid", _y(), _override("none"),
            _override("0+")),
    Example("capital", "struct-common-capitalised", _x(), sample("0-3", X, commonStructs=[common("s", X)]),
            sample("0-3", X, commonStructs=[common("S", X)])),
    Example("common struct twice", "struct-common-unique", _x(),
            sample("0-3", X, commonStructs=[common("S", X), common("S", X)]),
            sample("0-3", X, commonStructs=[common("S", X), common("T", X)])),
    Example("common struct as inline struct", "struct-common-respecified", _x(),
            sample("0-4", X, field("S", "[]S", "4+", fields=[X]), commonStructs=[common("S", X)]),
            sample("0-4", X, field("S", "[]S", "4+"), commonStructs=[common("S", X)])),
    Example("inline struct twice", "struct-inline-unique", _x(),
            sample("0-4", X, field("S", "[]S", "4+", fields=[X]), field("T", "[]S", "4+", fields=[X])),
            sample("0-4", X, field("S", "[]S", "4+", fields=[X]), field("T", "[]T", "4+", fields=[X]))),
    Example("undeclared struct twice", "struct-inline-unique", _x(),
            sample("0-4", X, field("S", "[]S", "4+"), field("T", "S", "4+")),
            sample("0-4", X, field("S", "[]S", "4+"), field("T", "T", "4+"))),
    Example("wider number", "evo-type-differs", _x(), _x(type="int64"), _x(type=" int32 ")),
    Example("array of a number", "evo-type-differs", _x(), _x(type="[]int32"), _x(name="Other")),
    Example("struct renamed", "evo-type-differs", sample("0-3", field("S", "[]S", "0+", fields=[X])),
            sample("0-3", field("S", "[]T", "0+", fields=[X])), sample("0-3", field("T", "[]S", "0+", fields=[X]))),
    Example("message renamed", "evo-type-differs", _x(), _x() | {"name": "Other"}, _x() | {"name": "sample"}),
    Example("order changed", "evo-type-differs", sample("0-3", X, Y), sample("0-3", Y, X),
            sample("0-3", X | {"name": "Z"}, Y)),
    Example("field ends in a version that was there", "evo-max-effective-lower", _x(), _x(versions="0-2"),
            _x(versions="0-3")),
    Example("field ends in a new version", "evo-max-effective-lower", _x(), sample("0-4", X | {"versions": "0-2"}),
            sample("0-4", X | {"versions": "0-3"})),
    Example("field begins later", "evo-min-effective-differs", _x(), _x(versions="1+"), _x(versions="0+")),
    Example("field begins earlier", "evo-min-effective-differs", _x(versions="2+"), _x(versions="1+"),
            sample("2-4", X | {"versions": "1+"})),
    Example("nullable from 0 on", "evo-max-nullable-lower", _y(), _y(nullableVersions="0+"),
            _y(nullableVersions="none")),
    Example("nullable no more is accepted", "evo-max-nullable-lower", _y(), _y(nullableVersions="3+"), _y(),
            accepted_after=_y(nullableVersions="0+")),
    Example("nullable for longer", "evo-max-nullable-lower", _y(nullableVersions="0-1"), _y(nullableVersions="0-2"),
            _y(nullableVersions="0")),
    Example("nullable later", "evo-min-nullable-differs", _y(nullableVersions="1+"), _y(nullableVersions="2+"),
            sample("2-3", Y | {"nullableVersions": "2+"})),
    Example("nullable no more from 1 on", "evo-min-nullable-differs", _y(nullableVersions="1+"), _y(),
            sample("1-3", Y)),
    Example("own flexible versions smaller than before", "evo-field-flexible-shrinks", _override("0+"),
            _override("1+"), _override("0+")),
    Example("own flexible versions smaller than the message's", "evo-field-flexible-shrinks", _y(),
            _override("1+"), _override("0+")),
    Example("own flexible versions given up", "evo-field-flexible-shrinks", _override("1+", "2+"),
            sample("0-3", Y, flexibleVersions="2+"), sample("0-3", Y, flexibleVersions="1+")),
    Example("other default", "evo-default-differs", _x(default="-1"), _x(default="1"), _x(default=-1)),
    Example("default that is the implicit one", "evo-default-differs", _x(), _x(default="0"), _x(default="")),
    Example("default of a boolean", "evo-default-differs", _x(type="bool", default="true"),
            _x(type="bool", default="True"), _x(type="bool", default=True)),
    Example("default of a float", "evo-default-differs", _x(type="float64", default="1.0"),
            _x(type="float64", default=1.5), _x(type="float64", default=1.0)),
    Example("default null", "evo-default-differs", _y(), _y(default="null"), _y(default=None)),
    Example("tagged before flexible", "evo-tagged-outside-flexible",
            sample("0-3", X | {"tag": 0, "taggedVersions": "2+"}, flexibleVersions="2+"),
            sample("0-3", X | {"tag": 0, "taggedVersions": "1+"}, flexibleVersions="2+"),
            sample("0-3", X | {"tag": 0, "taggedVersions": "3+"}, flexibleVersions="2+")),
    Example("tagged before flexible with own flexible versions", "evo-tagged-outside-flexible",
            sample("0-3", Y, flexibleVersions="2+"),
            sample("0-3", Y | {"tag": 0, "taggedVersions": "1+"}, flexibleVersions="2+"),
            sample("0-3", Y | {"tag": 0, "taggedVersions": "1+", "flexibleVersions": "1+"}, flexibleVersions="2+")),
    Example("message without fields", "evo-struct-unknown", sample("0-3"), sample("0-3"),
            sample("0-3", commonStructs=[common("Sample", X)]),
            accepted_after=sample("0-3", commonStructs=[common("Sample", X)])),
    Example("retired both times", "evo-struct-unknown", retired("Sample", "response", 1),
            retired("Sample", "response", 1), _x(), accepted_after=_x()),
    Example("retired, its flexible versions are not checked", "evo-struct-unknown", _RETIRED,
            retired("Sample", "data", 1), retired("Sample", "data", 1) | {"commonStructs": [common("Sample")]}),
    Example("single struct named otherwise", "evo-struct-unknown",
            sample("0-3", field("Origin", "Point", "0+"), commonStructs=[common("Point", X)]),
            sample("0-3", field("Origin", "Point", "0+"), commonStructs=[common("Point", X)]),
            _POINT, accepted_after=_POINT),
    Example("single struct named like another struct", "evo-default-differs",
            sample("0-3", field("Other", "Point", "0+"), commonStructs=[common("Point", X), common("Other", X)]),
            sample("0-3", field("Other", "Point", "0+"),
                   commonStructs=[common("Point", X), common("Other", X | {"default": 1})]),
            sample("0-3", field("Other", "Point", "0+"),
                   commonStructs=[common("Point", X | {"default": 1}), common("Other", X)])),
    Example("circle by names", "evo-struct-endless", _endless("A"), _endless("A"), _endless("C"),
            accepted_after=_endless("C")),
    Example("old field misplaced", "evo-pair-old-misplaced", sample("0-3", X, Y | {"versions": "4+"}),
            sample("0-4", X, Y | {"versions": "4+"}), sample("0-4", X, Y | {"versions": "4+"}),
            accepted_after=_x(), first="evo-field-never-valid"),
    Example("new field misplaced", "evo-pair-new-misplaced", _x(), sample("0-3", X, Y | {"versions": "4+"}),
            sample("0-4", X, Y | {"versions": "4+"}), first="evo-field-never-valid"),
    Example("field added to versions that were there", "evo-pair-missing-old", _x(), sample("0-4", X, Y),
            sample("0-4", X, Y | {"versions": "4+"})),
    Example("tagged field added to versions that were there", "evo-pair-missing-old", _x(),
            sample("0-3", X, Y | {"tag": 0, "taggedVersions": "0+"}),
            sample("0-4", X, Y | {"versions": "4+", "tag": 0, "taggedVersions": "4+"})),
    Example("field removed from versions that are there is not noticed", "evo-type-differs", sample("0-3", X, Y),
            sample("0-3", Y), sample("0-3", X)),
    Example("field of dropped versions removed", "evo-type-differs", sample("0-3", X | {"versions": "0"}, Y),
            sample("0-3", Y), sample("1-3", Y)),
)  # fmt: skip
"""Examples in the order of the rules."""
