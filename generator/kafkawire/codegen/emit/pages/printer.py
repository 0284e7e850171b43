"""All reference pages of a set of definitions, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2

from kafkawire.codegen.definition import MessageDefinition, MessageType
from kafkawire.codegen.emit.package_modules import error_entries, module_path
from kafkawire.codegen.emit.pages.history_page import history_page
from kafkawire.codegen.emit.pages.lineage import lineages, unpublished_folders
from kafkawire.codegen.emit.pages.markdown import block, code, in_words, words
from kafkawire.codegen.emit.pages.message_page import MessageFacts, message_page, page_path
from kafkawire.codegen.emit.pages.overviews import api_rows, message_groups, record_tables
from kafkawire.codegen.resolve.layouts import ResolvedMessage
from kafkawire.codegen.specs_tree import LoadedSpecs
from kafkawire.codegen.versions import NO_VERSIONS


@dataclass(frozen=True, slots=True)
class PagePrinter:
    """Prints the pages about the package ``package``; every method gives (path relative to the pages, text)."""

    templates: jinja2.Environment
    package: str
    specs: LoadedSpecs
    messages: tuple[ResolvedMessage, ...]

    def pages(self) -> Iterator[tuple[Path, str]]:
        """All pages: overviews first, then one for each message."""
        facts = self._facts()
        yield from self._overviews(facts)
        template = self._template("message.md.j2")
        for message in self.messages:
            page = message_page(message, facts[message.definition.name])
            yield Path(page_path(message.definition)), template.render(page=page)

    def _overviews(self, facts: Mapping[str, MessageFacts]) -> Iterator[tuple[Path, str]]:
        definitions = [message.definition for message in self.messages]
        apis = api_rows(definitions, self.specs.unstable)
        records = record_tables(definitions)
        history = history_page(self.messages, facts, self.specs.releases)
        yield (
            Path("index.md"),
            self._template("index.md.j2").render(
                package=self.package,
                groups=message_groups(definitions),
                specs=self.specs,
                has_apis=bool(apis),
                has_records=bool(records),
            ),
        )
        yield Path("history.md"), self._template("history.md.j2").render(page=history)
        if apis:
            yield Path("apis.md"), self._template("apis.md.j2").render(package=self.package, apis=apis)
        if records:
            yield (
                Path("records.md"),
                self._template("records.md.j2").render(package=self.package, specs=self.specs, tables=records),
            )
        if self.specs.error_codes:
            page = self._template("error_codes.md.j2")
            names = {error.code: error.class_name for error in error_entries(self.specs.error_codes)}
            yield Path("error-codes.md"), page.render(package=self.package, codes=self.specs.error_codes, names=names)

    def _facts(self) -> Mapping[str, MessageFacts]:
        known = lineages(self.specs)
        unpublished = unpublished_folders(self.specs.released)
        partners = _partners(message.definition for message in self.messages)
        return {
            message.definition.name: MessageFacts(
                package=self.package,
                module=module_path(message.definition),
                partner=partners.get(message.definition.name),
                unstable=self.specs.unstable.get(message.definition.name, NO_VERSIONS),
                releases=self.specs.releases,
                unpublished=unpublished.get(message.definition.group, ()),
                lineage=known.get(message.definition.name, {}),
                aliases=tuple(
                    alias for alias, name in sorted(self.specs.aliases.items()) if name == message.definition.name
                ),
            )
            for message in self.messages
        }

    def _template(self, name: str) -> jinja2.Template:
        made = self.templates.overlay()
        made.filters = {
            **made.filters,
            "block": block,
            "code": code,
            "in_words": in_words,
            "page": page_path,
            "words": words,
        }
        return made.get_template(f"pages/{name}")


_PARTNER_TYPES: Mapping[MessageType, MessageType] = {
    "request": "response",
    "response": "request",
    "coordinator-key": "coordinator-value",
    "coordinator-value": "coordinator-key",
}


def _partners(messages: Iterable[MessageDefinition]) -> Mapping[str, MessageDefinition]:
    """Message name to the message that goes with it: same API or record type, the other side."""
    present = list(messages)
    by_place = {(m.group, m.type, m.api_key): m for m in present}
    found = ((m.name, (m.group, _PARTNER_TYPES[m.type], m.api_key)) for m in present if m.type in _PARTNER_TYPES)
    return {name: by_place[place] for name, place in found if place in by_place}
