"""Completion of commands, options and their values in bash, zsh and fish; no command is imported for it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kafkawire.cli.description import OF_A_CLUSTER, OF_CONTEXTS, CommandDescription, Description, Parameter
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.words import ReadWords, found_command, read_words

VARIABLE = "_KAFKAWIRE_COMPLETE"
"""The environment variable by which the scripts ask for completions; its value is the shell."""

_BREAKS = "=:"
"""Where bash breaks words, beside at blanks."""

_SEPARATED_BY_COMMAS = frozenset({"columns", "record_types"})
_OF_A_TABLE = "columns"

_BASH = """\
_kafkawire_completion() {
    local IFS=$'\\n'
    COMPREPLY=( $(_KAFKAWIRE_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) )
}
complete -o default -F _kafkawire_completion kafkawire
"""

_ZSH = """\
#compdef kafkawire
_kafkawire() {
    local -a replies
    replies=("${(@f)$(_KAFKAWIRE_COMPLETE=zsh ${words[1]} "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${replies[1]} ]]; then
        _describe 'kafkawire' replies
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _kafkawire ]]; then
    _kafkawire "$@"
else
    compdef _kafkawire kafkawire
fi
"""

_FISH = """\
function __kafkawire_replies
    set -l words (commandline --cut-at-cursor --tokenize --current-process) (commandline --current-token)
    _KAFKAWIRE_COMPLETE=fish $words[1] $words[2..-1] 2>/dev/null
end
complete --command kafkawire --no-files --condition 'count (__kafkawire_replies) >/dev/null' \
--arguments '(__kafkawire_replies)'
complete --command kafkawire --force-files --condition 'not count (__kafkawire_replies) >/dev/null'
"""

SCRIPTS = {"bash": _BASH, "fish": _FISH, "zsh": _ZSH}
"""The completion script of each shell."""


class Reply(NamedTuple):
    """A word that may stand at the cursor.

    Attributes:
        word: the whole word.
        help: what it means, in a sentence; may be empty.
    """

    word: str
    help: str = ""


def replies(description: Description, words: Sequence[str]) -> Sequence[Reply]:
    """The words that may stand in the place of the last one.

    Args:
        description: of all commands.
        words: those after ``kafkawire``, up to the cursor; the last one may be empty.
    """
    before, begun = list(words[:-1]), words[-1] if words else ""
    asks_for_help = before[:1] == ["help"]
    if asks_for_help:
        before = before[1:]
    names, command = found_command(description.root, before)
    rest = before[len(names) :]
    if command.commands:
        return [] if rest else list(_commands(command, begun, is_root=not names and not asks_for_help))
    if asks_for_help:
        return []
    read = read_words(command, rest)
    if read.open is not None:
        return list(_values(read.open, begun, read, description))
    if begun.startswith("-") and not read.only_arguments:
        name, equals, value = begun.partition("=")
        option = command.options.get(name)
        if equals:
            values = () if option is None else _values(option, value, read, description)
            return [Reply(f"{name}={each.word}", each.help) for each in values]
        return list(_options(command, begun, read))
    if command.arguments:
        at = min(len(read.arguments), len(command.arguments) - 1)
        return list(_values(command.arguments[at], begun, read, description))
    return [] if begun else list(_options(command, begun, read))


def _commands(group: CommandDescription, begun: str, *, is_root: bool) -> Iterator[Reply]:
    options = [name for each in group.parameters for name in each.names if name.startswith("--")]
    named = {name: each.summary for name, each in group.commands.items()}
    if is_root:
        named["help"] = "Show the help of a command."
    listed = named if not begun.startswith("-") else dict.fromkeys((*options, "--help"), "")
    for name, summary in listed.items():
        if name.startswith(begun):
            yield Reply(name, summary)


def _options(command: CommandDescription, begun: str, read: ReadWords) -> Iterator[Reply]:
    for each in command.parameters:
        if each not in read.given or each.repeatable:
            for name in (*each.names, *each.negative):
                if name.startswith(("--", begun) if len(begun) == 1 else begun) and name.startswith(begun):
                    yield Reply(name, each.help)
    if "--help".startswith(begun):
        yield Reply("--help", "Show the help.")


def _values(parameter: Parameter, begun: str, read: ReadWords, description: Description) -> Iterator[Reply]:
    known: Iterable[str] = parameter.choices
    if parameter.value_list:
        key = parameter.value_list
        if key == _OF_A_TABLE:
            key = f"{key}/{read.values.get('--table', '')}"
        known = _living_names(key, read) or description.values.get(key, ())
    chosen, last = "", begun
    if parameter.value_list in _SEPARATED_BY_COMMAS and "," in begun:
        chosen, _, last = begun.rpartition(",")
        chosen += ","
    for value in known:
        if value.casefold().startswith(last.casefold()) and value not in chosen.split(","):
            yield Reply(f"{chosen}{value}")


def _living_names(key: str, read: ReadWords) -> Iterable[str]:
    """Names that no release knows: of the user's contexts, and of what is in a cluster."""
    kind = key.partition(OF_A_CLUSTER)[2]
    if not kind and key != OF_CONTEXTS:
        return ()
    from kafkawire.cli.access.cluster_names import names_of_cluster, names_of_contexts  # noqa: PLC0415 few need it

    return names_of_cluster(kind, read.values) if kind else names_of_contexts()


def print_replies(description: Description, shell: str, words: Sequence[str]) -> None:
    """Print the replies in the form that the script of a shell reads.

    Raises:
        CommandError: there is no script for the shell.
    """
    _check_shell(shell)
    if shell != "bash":
        for each in replies(description, words):
            print(_for_zsh(each) if shell == "zsh" else f"{each.word}\t{each.help}".rstrip())
        return
    joined, cut = _joined(words)
    for each in replies(description, joined):
        print(each.word[cut:])


def _for_zsh(reply: Reply) -> str:
    word = reply.word.replace(":", "\\:")
    return f"{word}:{reply.help}" if reply.help else word


def _joined(words: Sequence[str]) -> tuple[Sequence[str], int]:
    """The words as they were typed: bash makes three words of ``--table=topic`` and of ``User:alice``.

    Returns:
        The words, and how many letters of the last one stand before what bash replaces.
    """
    joined: list[str] = []
    cut, after_break = 0, False
    for word in words:
        is_break = bool(joined) and bool(word) and not word.strip(_BREAKS)
        if is_break or after_break:
            cut = len(joined[-1]) + (len(word) if is_break else 0)
            joined[-1] += word
        else:
            joined.append(word)
            cut = 0
        after_break = is_break
    return joined, cut


def show_script(shell: str | None) -> None:
    """Print the completion script of a shell, by default the user's.

    Raises:
        CommandError: there is none.
    """
    print(SCRIPTS[_check_shell(shell or _users_shell())], end="")


def install_script(shell: str | None) -> None:
    """Write the completion script of a shell to where the shell finds it, and print where that is.

    Bash and zsh get a line in the file that they read at the start, if it is not there yet.

    Raises:
        CommandError: there is no script for the shell.
    """
    shell = _check_shell(shell or _users_shell())
    home = Path.home()
    match shell:
        case "bash":
            file = _folder("XDG_DATA_HOME", ".local/share") / "bash-completion" / "completions" / "kafkawire"
            _add_line(home / ".bashrc", f"source '{file}'")
        case "zsh":
            file = home / ".zfunc" / "_kafkawire"
            _add_line(_folder("ZDOTDIR", "") / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
        case _:
            file = _folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "kafkawire.fish"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SCRIPTS[shell], "utf-8")
    print(f"wrote {file}: a new {shell} completes kafkawire")


def _folder(variable: str, usual: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / usual)


def _add_line(file: Path, line: str) -> None:
    before = file.read_text("utf-8") if file.exists() else ""
    if line not in before.splitlines():
        gap = "" if before.endswith("\n") or not before else "\n"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{before}{gap}{line}\n", "utf-8")


def _users_shell() -> str:
    return Path(os.environ.get("SHELL", "")).name


def _check_shell(shell: str) -> str:
    if not shell:
        raise CommandError(
            f"SHELL does not name your shell; write it after the option: {', '.join(SCRIPTS)}", ExitCode.USAGE
        )
    if shell not in SCRIPTS:
        raise CommandError(
            f"there is no completion for the shell {shell!r}; name one of {', '.join(SCRIPTS)}", ExitCode.USAGE
        )
    return shell
