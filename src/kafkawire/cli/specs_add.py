"""``kafkawire specs add``: adds a release, from its jars to the generated package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kafkawire.cli.generate import OWN_PACKAGE, make_target, print_warnings
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.generate import (
    DefinitionsRefusedError,
    ForeignFilesError,
    Summary,
    Target,
    checked_specs,
    generate,
)
from kafkawire.codegen.importing.addition import AddedRelease, add_release
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.merge.meanings import fields_without_meaning
from kafkawire.codegen.merge.released_versions import ReleasedVersionsError
from kafkawire.codegen.package_data import checkout_dir, specs_dir
from kafkawire.codegen.parse.meanings import MEANINGS_FILE
from kafkawire.codegen.report.text import render_text
from kafkawire.codegen.specs_tree import LoadedSpecs, load_specs
from kafkawire.codegen.versions import versions_text

_REQUEST, _RESPONSE = "Request", "Response"


def add(
    version: Annotated[str, typer.Argument(help="The release, as Maven has it: 4.4.0.")],
    specs: Annotated[Path, typer.Option(help="The folder of definitions, with its sources.toml.")] = Path("specs"),
    offline_jars: Annotated[
        Path | None,
        typer.Option(file_okay=False, exists=True, help="Take jars from here (VERSION/NAME.jar), without Maven."),
    ] = None,
    package: Annotated[str, typer.Option(help="Dotted name of the package to generate.")] = OWN_PACKAGE,
    out: Annotated[
        Path | None, typer.Option(help="Folder that holds the package; in a checkout its own by default.")
    ] = None,
) -> None:
    """Add a release: find what it has published, pin its digests, import it, prove the merge, and generate.

    Prints what the release brings, and the warnings about all definitions on standard error. If something fails or
    needs a decision, nothing is changed.
    """
    if not specs.is_dir():
        raise CommandError(f"--specs: {specs} is not a folder; give the folder of the definitions", ExitCode.USAGE)
    target = _target(specs, package, out)
    summaries: list[Summary | None] = []
    try:
        with Console(stderr=True).status("adding") as status:

            def show(step: str, _done: int, _total: int) -> None:
                status.update(step)

            def generate_from(staged: Path) -> None:
                if target is not None:
                    summaries.append(generate(replace(target, specs=staged), checked_specs(staged, show), show))

            added = add_release(
                version, specs, offline_jars=offline_jars, generate=generate_from, progress=status.update
            )
    except SpecsImportError as problem:
        raise CommandError(
            f"{version} was not added, and nothing was changed:\n  " + "\n  ".join(problem.problems)
        ) from problem
    except DefinitionsRefusedError as error:
        print(render_text(error.findings, error.sources), end="")
        raise CommandError(f"{version} was not added, and nothing was changed: {error}") from None
    except (ForeignFilesError, ReleasedVersionsError) as error:
        raise CommandError(f"{version} was not added, and nothing was changed: {error}") from None
    print(f"Apache Kafka {version} was added to {specs}")
    for line in (*_news(added), *_written(added, target, summaries)):
        print(line)
    loaded = load_specs(specs)
    for line in _without_meaning(specs, loaded):
        print(line)
    print_warnings(loaded.findings, loaded)


def _target(specs: Path, package: str, out: Path | None) -> Target | None:
    """What to generate; None if no folder is named and the definitions are not those of the checkout."""
    if out is not None:
        return make_target(specs, package, out)
    is_own = checkout_dir() is not None and specs.resolve() == specs_dir().resolve()
    return make_target(None, package, None) if is_own and package == OWN_PACKAGE else None


def _news(added: AddedRelease) -> Iterator[str]:
    """What is new, a line for each kind."""
    apis = [f"{m.api_key} {_stem(m.name)}" for m in added.new_messages if m.type == "request"]
    others = [m.name for m in added.new_messages if m.type not in ("request", "response")]
    codes = [f"{code.code} {code.name}" for code in added.error_codes]
    for what, entries in (
        ("not published", added.unpublished),
        ("without definitions", added.without_definitions),
        ("new APIs", apis),
        ("other new messages", others),
        ("new versions", _versions(added.new_versions)),
        ("dropped versions", _versions(added.dropped_versions)),
        ("new error codes", codes),
    ):
        if entries:
            yield f"{what}: {', '.join(entries)}"
    for change in added.changes:
        what = "; ".join(str(difference) for difference in change.differences)
        yield f"{change.relation} since {change.release}: {change.message} {change.versions}: {what}"


def _without_meaning(specs: Path, loaded: LoadedSpecs) -> Iterator[str]:
    """The fields that need a sentence, a line for each, if the folder has a file of sentences."""
    missing = list(fields_without_meaning(loaded.messages)) if (specs / MEANINGS_FILE).exists() else []
    if missing:
        yield f"{_count(missing, 'field')} without a meaning; add a sentence for each to {specs / MEANINGS_FILE}:"
        yield from (f"  {field}" for field in missing)


def _versions(messages: Mapping[str, frozenset[int]]) -> list[str]:
    """Messages with versions; a request and its response as one API where they agree."""
    texts = []
    for name, numbers in messages.items():
        stem = _stem(name)
        is_pair = messages.get(stem + _REQUEST) == messages.get(stem + _RESPONSE)
        if not (is_pair and name.endswith(_RESPONSE)):
            texts.append(f"{stem if is_pair else name} {versions_text(numbers)}")
    return texts


def _stem(name: str) -> str:
    return name.removesuffix(_REQUEST).removesuffix(_RESPONSE)


def _written(added: AddedRelease, target: Target | None, summaries: list[Summary | None]) -> Iterator[str]:
    changes = added.result.changes
    yield f"{_count(added.result.pinned, 'digest')} pinned, {_count(changes.written, 'file')} of definitions written"
    yield from added.result.notes
    if target is None:
        yield "nothing was generated: run kafkawire generate, or add --package and --out"
    for summary in filter(None, summaries):
        written = _count((*summary.package.written, *summary.tests.written), "generated file")
        yield f"{written} written, {summary.package.unchanged + summary.tests.unchanged} unchanged"


def _count(items: Sized, what: str) -> str:
    return f"{len(items)} {what}{'' if len(items) == 1 else 's'}"
