"""The commands that pages print for a reader's own machine work, and no page shows an option that does not exist."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from tests.pages.commands import BROKER, ONLY_PARSED, WITH_SPARK, Workplace, lines_of, with_stand_ins
from tests.pages.proofs import PAGES, ROOT, with_name

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.commands import COMMANDS, Group
from kafkawire.cli.description import HELP_OPTIONS, CommandDescription, stored_description
from kafkawire.cli.kafka_configs.kafka_words import OPTIONS
from kafkawire.cli.kafka_configs.kip_248_words import OPTIONS as OPTIONS_OF_KIP_248
from kafkawire.cli.outcome import CommandError
from kafkawire.cli.words import check_words, found_command, no_such_command, read_words

pytestmark = pytest.mark.extended

DESCRIPTION = stored_description().root
INLINE = re.compile(r"`(kafkawire [^`\n]+)`")
PIP = ("pip", "python -m pip")
PYTEST = ".venv/bin/python -m pytest "


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return Workplace.made_in(tmp_path_factory.mktemp("workplace"), Path(sys.executable).parent)


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    """The reader's broker: it has the topic and the group of the pages."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with (
        ThreadedBroker(properties, topics=["orders"]) as running,
        BlockingAdminClient(running.bootstrap_servers) as client,
    ):
        client.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 0}).all()
        yield running


@pytest.mark.parametrize("page", [page for page in PAGES if list(lines_of(page))], ids=with_name)
def test_the_commands_of_a_page_work(
    page: Path, workplace: Workplace, broker: ThreadedBroker, pyproject: dict[str, Any]
) -> None:
    cloned: set[str] = set()
    before: list[str] = []
    workplace.write_files(page)
    for line in lines_of(page):
        words = shlex.split(line)
        if words[0] == "kafkawire":
            parse(line)
        if WITH_SPARK.match(line) or line.startswith(tuple(ONLY_PARSED)):
            continue
        if line.startswith(PIP):
            check_installation(words, pyproject)
        elif words[0] == "make":
            used = shlex.split(with_stand_ins(line))
            done = subprocess.run([*used, "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
        elif words[:2] == ["git", "clone"]:
            assert words[2] == pyproject["project"]["urls"]["Repository"]
            cloned.add(words[2].rpartition("/")[2])
        elif words[0] == "cd":
            assert words[1] in cloned
        elif line.startswith(PYTEST):
            assert all((ROOT / name).exists() for name in words[3:]), line
        elif words[0] in {"export", "set"}:
            before.append(line)
            workplace.run(line)
        else:
            assert words[0] in {"kafkawire", "git"}, f"say how to prove: {line}"
            workplace.run(line, before, broker.bootstrap_servers if BROKER in line else None)


def check_installation(words: list[str], pyproject: dict[str, Any]) -> None:
    """Pip knows the options, and the package has the extras."""
    rest = words[words.index("pip") + 1 :]
    command = importlib.import_module("pip._internal.commands").create_command(rest[0])
    _, wanted = command.parse_args(rest[1:])
    assert wanted
    for each in map(Requirement, wanted):
        assert each.name == "kafkawire", words
        assert each.extras <= set(pyproject["project"]["optional-dependencies"]), words


def found(words: list[str]) -> tuple[list[str], CommandDescription, list[str]]:
    """The names of the command after ``kafkawire``, its description, and the words after the names."""
    names, command = found_command(DESCRIPTION, words)
    rest = words[len(names) :]
    if command.commands and rest and not rest[0].startswith("-"):
        raise no_such_command(" ".join(["kafkawire", *names]), command, rest[0])
    return list(names), command, rest


def parse(line: str) -> None:
    """Read a command line without running it; what follows a pipe is another's."""
    names, command, rest = found(shlex.split(line.partition(" | ")[0])[1:])
    if has_another_grammar(names, rest):
        return  # it is run
    read = read_words(command, rest)
    if not command.commands and not read.wants_help:
        check_words(" ".join(["kafkawire", *names]), command, read, own_parser=names == ["spark", "tables"])


@pytest.mark.parametrize("page", [page for page in PAGES if INLINE.search(page.read_text())], ids=with_name)
def test_commands_in_sentences_exist_with_their_options(page: Path) -> None:
    for line in INLINE.findall(page.read_text()):
        check_sentence(line)


def check_sentence(line: str) -> None:
    names, command, words = found(shlex.split(line)[1:])
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    known = {*command.options, *HELP_OPTIONS}
    if has_another_grammar(names, words):
        known |= {*(f"--{option.name}" for option in OPTIONS), *OPTIONS_OF_KIP_248, "--compat"}
    assert [option for option in options if option not in known] == [], line


def has_another_grammar(names: list[str], words: list[str]) -> bool:
    """Whether words after a group are those of another tool."""
    group = COMMANDS.get(names[0]) if len(names) == 1 else None
    return isinstance(group, Group) and bool(group.otherwise) and bool(words) and words[0].startswith("-")


@pytest.mark.parametrize(
    "line", ["kafkawire tables --no-such-option", "kafkawire tables extra word", "kafkawire brooker"]
)
def test_a_wrong_command_line_is_found(line: str) -> None:
    with pytest.raises(CommandError):
        parse(line)


@pytest.mark.parametrize("line", ["kafkawire tables --no-such-option", "kafkawire tabels", "kafkawire schema chek"])
def test_a_wrong_command_in_a_sentence_is_found(line: str) -> None:
    with pytest.raises((AssertionError, CommandError)):
        check_sentence(line)


def test_a_command_that_fails_is_found(workplace: Workplace) -> None:
    with pytest.raises(AssertionError, match="there is no such folder"):
        workplace.run("kafkawire tables --log nowhere --table acl_history")


def test_what_is_only_parsed_is_printed() -> None:
    printed = [line for page in PAGES for line in lines_of(page)]
    assert [start for start in ONLY_PARSED if not any(line.startswith(start) for line in printed)] == []
