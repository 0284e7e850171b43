"""Wrong usage: one line on standard error with what is wrong and what to do, in every command."""

from __future__ import annotations

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tabels", "there is no command 'tabels'; did you mean tables?"),
        ("zzz", "there is no command 'zzz'; kafkawire --help lists the commands"),
        ("--verson", "there is no option --verson; did you mean --version?"),
        ("schema lnt", "there is no command 'lnt'; did you mean lint?"),
        ("schema --bogus", "there is no option '--bogus'; kafkawire schema --help lists the commands"),
        ("help schema lnt", "there is no command 'lnt'; did you mean lint?"),
        ("tables --tabel topic", "there is no option --tabel; did you mean --table?"),
        ("tables --zzz", "there is no option --zzz; kafkawire tables --help lists the options"),
        ("tables --table", "--table needs a value; give --table NAME"),
        ("tables --list=yes", "--list takes no value; leave out what follows the ="),
        ("tables extra", "'extra' is one word too many; kafkawire tables --help shows the usage"),
        ("specs add", "VERSION is missing; kafkawire specs add --help explains it"),
        ("schema diff old", "NEW is missing; kafkawire schema diff --help explains it"),
        ("report logs", "--out and DIR... are missing; kafkawire report logs --help explains them"),
        ("spark tables --log a --table b", "--out is missing; kafkawire spark tables --help explains it"),
        ("broker --port 70000", "--port: '70000' does not fit; give a number from 0 to 65535"),
        ("broker --port x", "--port: 'x' does not fit; give a number from 0 to 65535"),
        ("tables --max-errors -1", "--max-errors: '-1' does not fit; give a number of at least 0"),
        ("schema diff a b -o xml", "--format: there is no 'xml'; give one of text, markdown, json"),
        ("schema diff a b -o jsn", "--format: there is no 'jsn'; did you mean json?"),
        ("schema lint nowhere", "PATH...: path 'nowhere' does not exist; kafkawire schema lint --help explains it"),
        ("generate --specs nowhere", "--specs: nowhere is not a folder; give the folder that holds the definitions"),
        ("generate --out pyproject.toml --package ab", "--out: pyproject.toml is not a folder; give another one"),
        ("specs check --specs nowhere", "--specs: nowhere is not a folder; give the folder of the definitions"),
        ("--install-completion tcsh", "there is no completion for the shell 'tcsh'; name one of bash, fish, zsh"),
    ],
)
def test_wrong_usage_is_one_line(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"kafkawire: {message}")
    assert printed.err.count("\n") == 1
    assert printed.err.removeprefix("kafkawire: ").partition("; ")[2] != "", "it says what to do"


@pytest.mark.parametrize("form", [["-o", "json"], ["-ojson"], ["--format", "json"], ["--format=json"]], ids=" ".join)
@pytest.mark.usefixtures("config_file")
def test_the_form_has_a_short_and_a_long_option(form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "list", *form]) == ExitCode.DONE
    assert capsys.readouterr().out == "[]\n"


def test_after_two_dashes_no_word_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "lint", "--", "--help"]) == ExitCode.USAGE
    assert "--help" in capsys.readouterr().err
