"""How Kafka's checker finds the structs of a message."""

from __future__ import annotations

from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, Place
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import rules
from kafkawire.codegen.evolve.upstream.report import Spot, refusal

Fields = tuple[FieldDefinition, ...]


class StructTable:
    """The structs of one definition by name.

    Attributes:
        findings: names that Kafka's checker rejects, at each second use or declaration.
    """

    def __init__(self, message: MessageDefinition) -> None:
        self.findings: list[EvolutionFinding] = []
        self._message = message
        self._fields: dict[str, Fields] = {}
        self._enter_common_structs()
        self._common = frozenset(self._fields)
        self._enter_inline_structs("", message.fields)

    def fields_of(self, field: FieldDefinition) -> Fields | None:
        """The fields of a field's struct, or None if Kafka's checker does not find them.

        If they are not declared at the field, it searches for the type of an array, and for the *name* of a single
        struct.
        """
        return field.fields or self.named(field.type.name if field.type.array else field.name)

    def fields_of_message(self) -> Fields | None:
        """The fields of the message; where it has none, those of a struct of its name."""
        return self._message.fields or self.named(self._message.name)

    def named(self, name: str) -> Fields | None:
        """The fields of the struct with that name, capitalised."""
        return self._fields.get(capitalised(name))

    def _enter_common_structs(self) -> None:
        for struct in self._message.common_structs:
            path = f"commonStructs.{struct.name}"
            if not struct.name[:1].isupper():
                problem = f'the name "{struct.name}" does not begin with a capital'
                self._report(rules.COMMON_CAPITALISED, path, struct.place, "name", problem)
            elif struct.name in self._fields:
                problem = f'there is a common struct "{struct.name}" already'
                self._report(rules.COMMON_UNIQUE, path, struct.place, "name", problem)
            else:
                self._fields[struct.name] = struct.fields

    def _enter_inline_structs(self, prefix: str, fields: Fields) -> None:
        """Enter the structs of fields, and inner ones; those that are declared inside common structs are left out."""
        for field in fields:
            if not field.type.is_struct:
                continue
            path = prefix + field.name
            if field.type.name not in self._common:
                self._enter_inline_struct(path, field)
            elif field.fields:
                problem = f'the field declares the fields of "{field.type.name}", which is a common struct'
                self._report(rules.COMMON_RESPECIFIED, path, field.place, "fields", problem)
            self._enter_inline_structs(f"{path}.", field.fields)

    def _enter_inline_struct(self, path: str, field: FieldDefinition) -> None:
        if field.type.name in self._fields:
            problem = f'the struct "{field.type.name}" is declared by another field already'
            self._report(rules.INLINE_UNIQUE, path, field.place, "type", problem)
        else:
            self._fields[field.type.name] = field.fields

    def _report(self, rule: Rule, path: str, place: Place, attribute: str, problem: str) -> None:
        spot = Spot(self._message.name, path, place, attribute)
        self.findings.append(refusal(rule, spot, self._message.valid_versions, problem))


def capitalised(name: str) -> str:
    """The name with a capital in front."""
    return name[:1].upper() + name[1:]
