"""The checks that keys and values of all kinds share, and where what was read is collected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from kafkawire.declared.documents.declared import PruneScope, SecretKey
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence, Table, position_between, shown
from kafkawire.declared.documents.problems import Position, Problems, Rule
from kafkawire.declared.documents.secret_references import SecretReference
from kafkawire.declared.planned import Item, Kind
from kafkawire.declared.state import CredentialState, TopicState
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import UserMechanism
from kafkawire.near_names import did_you_mean

IGNORED_PREFIX: Final = "x-"
"""Keys that begin so are for people and anchors."""

_LONGEST_NUMBER: Final = 64
_MOST_SUGGESTIONS: Final = 1000


class Reading:
    """What was read so far of all documents, and the file that is being read.

    Attributes:
        problems: what is wrong.
        file: the name of the file, for positions.
        folder: the folder of the file, from which paths of secrets begin.
    """

    def __init__(self) -> None:
        self.problems = Problems()
        self.file = ""
        self.folder = "."
        self.topics: dict[str, TopicState] = {}
        self.configs: dict[ConfigResource, dict[str, str | None]] = {}
        self.acls: set[AclBinding] = set()
        self.quotas: dict[ClientQuotaEntity, dict[str, float | None]] = {}
        self.credentials: dict[UserMechanism, CredentialState] = {}
        self.secrets: dict[SecretKey, SecretReference] = {}
        self.prune: list[PruneScope] = []
        self.positions: dict[Kind, dict[Item, Position]] = {kind: {} for kind in Kind}
        self.checked_values: set[tuple[int, str, str]] = set()
        self.unknown_configs: set[tuple[int, str]] = set()
        self.hidden: list[Position] = []
        self.managed_elsewhere: dict[UserMechanism, tuple[Position, str, str]] = {}
        self.similar_topics: dict[str, str] = {}

    def at(self, node: Node) -> Position:
        """The position of a node."""
        return position_between(self.file, node.start, node.end)

    @property
    def errors(self) -> int:
        """How many mistakes were found."""
        return self.problems.errors

    def hide(self, node: Node) -> None:
        """Keep the text of a node, a secret, out of the lines that problems show."""
        self.hidden.append(self.at(node))

    def error(self, node: Node, rule: Rule, message: str, remedy: str = "") -> None:
        """Add a mistake."""
        self.problems.add(self.at(node), rule, message, remedy)

    def warning(self, node: Node, rule: Rule, message: str, remedy: str = "") -> None:
        """Add a warning."""
        self.problems.add(self.at(node), rule, message, remedy, is_warning=True)

    def suggestion(self, name: str, names: Iterable[str]) -> str:
        """The name that was probably meant, as a question; empty after many problems, since each takes time."""
        return did_you_mean(name, names) if len(self.problems.found) < _MOST_SUGGESTIONS else ""

    def is_new(self, kind: Kind, item: Item, node: Node, what: str) -> bool:
        """Remember where an item is declared; False, with a problem, if it was declared before."""
        places = self.positions[kind]
        first = places.get(item)
        if first is None:
            places[item] = self.at(node)
            return True
        self.error(node, Rule.DUPLICATE, f"{what} is declared twice; first at {first}", "keep one of the two")
        return False

    def table(self, node: Node, what: str) -> Table | None:
        """A table; None, with a problem, for anything else."""
        if isinstance(node, Table):
            return node
        self.error(node, Rule.STRUCTURE, f"{what}: expected keys with values, found {kind_of(node)}")
        return None

    def entries(self, node: Node, what: str) -> Iterator[tuple[Scalar, Node]]:
        """The keys, which are names, and values of a table; none if it is empty."""
        if isinstance(node, Scalar) and node.is_null:
            return
        table = self.table(node, what)
        if table is not None:
            yield from zip(table.keys, table.values, strict=True)

    def known(self, node: Node, what: str, keys: Collection[str]) -> Mapping[str, Node]:
        """The values of a table by key; others than the known keys become problems."""
        table = self.table(node, what)
        if table is None:
            return {}
        by_name = table.by_name
        for key in table.keys:
            if key.text not in keys:
                self.unknown(key, what, keys)
        return by_name

    def only(self, node: Table, what: str, keys: Collection[str]) -> tuple[str, Node] | None:
        """The key and value of a table that has one of these keys and no other."""
        if len(node.keys) == 1 and node.keys[0].text in keys:
            return node.keys[0].text, node.values[0]
        wrong = next((key for key in node.keys if key.text not in keys), None)
        message = f"{what}: expected one of {', '.join(keys)}"
        if wrong is not None:
            self.error(wrong, Rule.STRUCTURE, message, self.suggestion(wrong.text, keys))
        else:
            self.error(node, Rule.STRUCTURE, message, "write one of them")
        return None

    def unknown(self, key: Scalar, what: str, keys: Collection[str]) -> None:
        """Add the problem of a key that does not exist, unless it begins as one that is ignored."""
        if key.text.startswith(IGNORED_PREFIX):
            return
        remedy = self.suggestion(key.text, keys) or f"the keys are {', '.join(keys)}"
        self.error(key, Rule.STRUCTURE, f"{what} has no key {shown(key.text)}", remedy)

    def items(self, node: Node) -> list[Node]:
        """One value, or the values of a list; without values a problem."""
        if not isinstance(node, Sequence):
            return [node]
        if not node.items:
            self.error(node, Rule.STRUCTURE, "the list is empty", "give at least one, or remove the key")
        return node.items

    def name(self, node: Node, what: str, *, may_be_empty: bool = False) -> str | None:
        """A name: text, or a number as it is written."""
        if isinstance(node, Scalar) and not node.is_null and node.boolean is None:
            if node.text or may_be_empty:
                return node.text
            self.error(node, Rule.STRUCTURE, f"{what}: the name is empty")
            return None
        remedy = f'write "{node.text}" if it is a name' if isinstance(node, Scalar) and node.text.isalpha() else ""
        self.error(node, Rule.STRUCTURE, f"{what}: expected a name, found {kind_of(node)}", remedy)
        return None

    def names(self, node: Node, what: str) -> list[str]:
        """One name, or those of a list."""
        return [name for each in self.items(node) if (name := self.name(each, what)) is not None]

    def whole_number(self, node: Node, what: str, lowest: int, highest: int) -> int | None:
        """A whole number between two others."""
        number = self._number(node)
        if number is None or not number.is_integer():
            remedy = (
                "write it without quotes"
                if isinstance(node, Scalar) and not node.is_plain and node.text.isdecimal()
                else ""
            )
            self.error(node, Rule.STRUCTURE, f"{what}: expected a whole number, found {kind_of(node)}", remedy)
            return None
        if not lowest <= number <= highest:
            self.error(node, Rule.STRUCTURE, f"{what}: expected {lowest} to {highest}, found {_short(node)}")
            return None
        return int(number)

    def number(self, node: Node, what: str) -> float | None:
        """A number above 0."""
        number = self._number(node)
        if number is None:
            self.error(node, Rule.STRUCTURE, f"{what}: expected a number, found {kind_of(node)}")
        elif number <= 0:
            self.error(node, Rule.STRUCTURE, f"{what}: expected a number above 0, found {_short(node)}")
        else:
            return number
        return None

    def boolean(self, node: Node, what: str) -> bool | None:
        """``true`` or ``false``."""
        value = node.boolean if isinstance(node, Scalar) else None
        if value is None:
            self.error(node, Rule.STRUCTURE, f"{what}: expected true or false, found {kind_of(node)}")
        return value

    def word(self, node: Node, what: str, words: Collection[str]) -> str | None:
        """One of some words; those in capitals may be in small letters too."""
        if isinstance(node, Scalar) and node.boolean is None and not node.is_null and not node.is_number:
            if node.text in words:
                return node.text
            if node.text.islower() and node.text.upper() in words:
                return node.text.upper()
            remedy = self.suggestion(node.text, words) or f"write one of {', '.join(words)}"
            self.error(node, Rule.STRUCTURE, f"{what}: {shown(node.text)} is not known", remedy)
            return None
        remedy = f"write one of {', '.join(words)}"
        self.error(node, Rule.STRUCTURE, f"{what}: expected a word, found {kind_of(node)}", remedy)
        return None

    @staticmethod
    def _number(node: Node) -> float | None:
        if isinstance(node, Scalar) and node.is_number and len(node.text) <= _LONGEST_NUMBER:
            return float(node.text)
        return None


KindReader = Callable[[Node, Reading], None]


def kind_of(node: Node) -> str:
    """What a node is, in messages; texts may be secrets where names are expected, so long ones are cut."""
    if isinstance(node, Table):
        return "keys with values"
    if isinstance(node, Sequence):
        return "a list"
    if node.is_null:
        return "nothing"
    if node.boolean is not None or node.is_number:
        return _short(node)
    return f"the text {shown(node.text)}"


def _short(node: Node) -> str:
    return shown(node.text).strip("'") if isinstance(node, Scalar) else ""
