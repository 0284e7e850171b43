"""The hooks, the action, the GitLab example and this repository's own check, run as their hosts would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.made.release_jars import Json, field, message

PAGE = "docs/how-to/schema-checks-in-ci.md"
KAFKAWIRE = Path(sys.executable).parent / "kafkawire"
WIDE = message("Ping", "0", [field("Sent", "int64", "0+")])
NARROW = message("Ping", "0", [field("Sent", "int32", "0+")])
EXTENDED = message("Ping", "0-1", [field("Sent", "int64", "0+"), field("Note", "string", "1+")])


@dataclass(frozen=True)
class Clone:
    """A clone of one commit, as CI makes it, of a repository whose main branch has ``specs/Ping.json``."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script with bash as GitHub and GitLab do."""
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        environment = {**self.environment, **variables}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT", "PYTHON"))}
    environment |= {"PATH": f"{KAFKAWIRE.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "A", f"GIT_{role}_EMAIL": "a@example.org"}
    origin = Clone(tmp_path / "origin", environment)
    origin.folder.mkdir()
    write(origin.folder, WIDE)
    script = (
        "git init -q -b main; git add -A; git commit -qm one; git checkout -qb change; git commit -q --allow-empty -m 2"
    )
    assert origin.run(script).returncode == 0
    made = Clone(tmp_path / "clone", environment)
    assert origin.run(f"git clone -q --depth=1 --branch change 'file://{origin.folder}' ../clone").returncode == 0
    return made


def write(folder: Path, definition: Json) -> None:
    (folder / "specs").mkdir(exist_ok=True)
    (folder / "specs" / "Ping.json").write_text(json.dumps(definition))


def yaml_file(path: Path) -> Any:  # noqa: ANN401 yaml gives what the file holds
    return yaml.safe_load(path.read_text())


def yaml_of_page(root: Path, title: str) -> Any:  # noqa: ANN401 the same
    (text,) = re.findall(
        rf'^```yaml title="{re.escape(title)}"\n(.*?)^```', (root / PAGE).read_text(), re.MULTILINE | re.DOTALL
    )
    return yaml.safe_load(text)


class TestHooks:
    @pytest.fixture
    def hooks(self, root: Path) -> dict[str, Any]:
        return {hook["id"]: hook for hook in yaml_file(root / ".pre-commit-hooks.yaml")}

    def test_lint_takes_the_files_that_changed(self, hooks: dict[str, Any], clone: Clone) -> None:
        write(clone.folder, NARROW | {"validVersions": "0+"})

        done = clone.run(f"{hooks['kafkawire-schema-lint']['entry']} specs/Ping.json")

        assert done.returncode == 1
        assert "specs/Ping.json:1:" in done.stdout

    @pytest.mark.parametrize(("definition", "exit_code"), [(EXTENDED, 0), (NARROW, 1)])
    def test_check_compares_with_the_last_commit(
        self, hooks: dict[str, Any], clone: Clone, definition: Json, exit_code: int
    ) -> None:
        hook = hooks["kafkawire-schema-check"]
        write(clone.folder, definition)

        assert clone.run(" ".join([hook["entry"], *hook["args"]])).returncode == exit_code
        assert hook["pass_filenames"] is False

    @pytest.mark.parametrize(
        ("path", "is_definition"),
        [
            ("specs/clients/FetchRequest.json", True),
            ("clients/src/main/resources/common/message/FetchRequest.json", True),
            ("metadata/src/main/resources/common/metadata/TopicRecord.json", True),
            ("storage/src/main/resources/message/ProducerSnapshot.json", True),
            ("package.json", False),
            ("myspecs/FetchRequest.json", False),
        ],
    )
    def test_only_definitions_count(self, hooks: dict[str, Any], path: str, is_definition: bool) -> None:
        for hook in hooks.values():
            assert bool(re.search(hook["files"], path)) is is_definition
            assert hook["types"] == ["json"]

    def test_they_install_the_requirements_of_the_command_line(
        self, hooks: dict[str, Any], pyproject: dict[str, Any]
    ) -> None:
        assert "cli" in pyproject["project"]["optional-dependencies"]
        assert {tuple(hook["additional_dependencies"]) for hook in hooks.values()} == {(".[cli]",)}

    def test_the_page_uses_hooks_that_are_there(self, hooks: dict[str, Any], root: Path) -> None:
        (repository,) = yaml_of_page(root, ".pre-commit-config.yaml")["repos"]

        assert {hook["id"] for hook in repository["hooks"]} == set(hooks)


@pytest.mark.extended
class TestAction:
    @pytest.fixture
    def action(self, root: Path) -> dict[str, Any]:
        parsed: dict[str, Any] = yaml_file(root / "action.yml")
        return parsed

    @pytest.fixture
    def variables(self, action: dict[str, Any], tmp_path: Path) -> dict[str, str]:
        """What GitHub sets: the inputs by their defaults, and the places of a job."""
        runner = tmp_path / "runner"
        (runner / "kafkawire" / "bin").mkdir(parents=True)
        (runner / "kafkawire" / "bin" / "kafkawire").symlink_to(KAFKAWIRE)
        inputs = {name.upper(): value["default"] for name, value in action["inputs"].items()}
        return {**inputs, "RUNNER_TEMP": str(runner), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}

    def test_inputs_reach_scripts_as_variables_only(self, action: dict[str, Any]) -> None:
        install, check = action["runs"]["steps"]

        assert check["env"] == {name.upper(): f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
        for step in (install, check):
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"

    def test_a_pull_request_is_compared_with_the_branch_that_it_goes_to(
        self, action: dict[str, Any], variables: dict[str, str], clone: Clone
    ) -> None:
        write(clone.folder, NARROW)

        done = clone.run(action["runs"]["steps"][1]["run"], **variables, GITHUB_BASE_REF="main")

        assert done.returncode == 1, done.stderr
        assert done.stdout.startswith("::error file=specs/Ping.json,line=1,")
        assert "Ping" in Path(variables["GITHUB_STEP_SUMMARY"]).read_text()

    def test_compatible_changes_pass(self, action: dict[str, Any], variables: dict[str, str], clone: Clone) -> None:
        write(clone.folder, EXTENDED)

        done = clone.run(action["runs"]["steps"][1]["run"], **variables, GITHUB_BASE_REF="main")

        assert (done.returncode, "::error" in done.stdout) == (0, False)

    def test_sides_may_be_named(self, action: dict[str, Any], variables: dict[str, str], clone: Clone) -> None:
        write(clone.folder, NARROW)
        named = variables | {"OLD": "git:HEAD:specs", "NEW": "specs/Ping.json", "FORMAT": "text"}

        done = clone.run(action["runs"]["steps"][1]["run"], **named)

        assert done.returncode == 1
        assert "breaking" in done.stdout

    def test_accepted_findings_pass(self, action: dict[str, Any], variables: dict[str, str], clone: Clone) -> None:
        write(clone.folder, NARROW)
        (clone.folder / "accepted.toml").write_text(
            '[[accepted]]\nrule = "conv-type"\nmessage = "Ping"\nreason = "it is not in use yet"\n'
        )

        done = clone.run(action["runs"]["steps"][1]["run"], **variables | {"OLD": "git:HEAD", "ALLOW": "accepted.toml"})

        assert done.returncode == 0, done.stdout + done.stderr

    def test_outside_a_pull_request_the_older_side_must_be_named(
        self, action: dict[str, Any], variables: dict[str, str], clone: Clone
    ) -> None:
        done = clone.run(action["runs"]["steps"][1]["run"], **variables)

        assert done.returncode == 2
        assert "set the input old to the older definitions" in done.stdout

    @pytest.mark.parametrize("name", ["OLD", "NEW", "PROFILE", "ALLOW", "FORMAT"])
    @pytest.mark.parametrize("value", ["x\"; touch marker; $(touch marker) `touch marker` '; touch marker", "--help"])
    def test_no_input_is_ever_carried_out(
        self, action: dict[str, Any], variables: dict[str, str], clone: Clone, name: str, value: str
    ) -> None:
        done = clone.run(action["runs"]["steps"][1]["run"], **variables | {"OLD": "git:HEAD"} | {name: value})

        assert done.returncode == 2
        assert not (clone.folder / "marker").exists()

    def test_it_installs_its_own_checkout_beside_the_jobs_python(
        self, action: dict[str, Any], variables: dict[str, str], clone: Clone
    ) -> None:
        """With a python3 that prints its arguments, since a real installation takes half a minute and a network."""
        shutil.rmtree(Path(variables["RUNNER_TEMP"]))
        python = clone.folder.parent / "bin" / "python3"
        python.parent.mkdir()
        python.write_text(
            '#!/bin/sh\necho "${0##*/} $*"\nif [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi\n'
        )
        python.chmod(0o755)
        path = f"{python.parent}{os.pathsep}{clone.environment['PATH']}"

        done = clone.run(
            action["runs"]["steps"][0]["run"], **variables | {"PATH": path, "GITHUB_ACTION_PATH": "/action of ours"}
        )

        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-2:] == [
            f"python3 -m venv {variables['RUNNER_TEMP']}/kafkawire",
            "python -m pip install --quiet --disable-pip-version-check /action of ours[cli]",
        ]

    def test_an_old_python_is_refused(self, action: dict[str, Any], variables: dict[str, str], clone: Clone) -> None:
        python = clone.folder.parent / "bin" / "python3"
        python.parent.mkdir()
        python.write_text("#!/bin/sh\nexit 1\n")
        python.chmod(0o755)

        done = clone.run(
            action["runs"]["steps"][0]["run"],
            **variables | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
        )

        assert done.returncode == 2
        assert done.stdout.startswith("::error::kafkawire needs Python 3.11 or newer")

    def test_the_page_explains_every_input(self, action: dict[str, Any], root: Path) -> None:
        rows = re.findall(r"^\| `([a-z]+)` \| .* \| (.*) \|$", (root / PAGE).read_text(), re.MULTILINE)
        assert [name for name, _ in rows] == list(action["inputs"])

        (job,) = yaml_of_page(root, ".github/workflows/schema.yml")["jobs"].values()
        assert job["steps"][-1]["with"].keys() <= action["inputs"].keys()


@pytest.mark.extended
class TestGitLab:
    @pytest.mark.parametrize(("definition", "exit_code"), [(EXTENDED, 0), (NARROW, 1)])
    def test_the_script_checks_and_leaves_its_report(
        self, root: Path, clone: Clone, definition: Json, exit_code: int
    ) -> None:
        job = yaml_of_page(root, ".gitlab-ci.yml")["schema"]
        write(clone.folder, definition)

        done = clone.run("\n".join(job["script"]), CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")

        assert done.returncode == exit_code, done.stderr
        for path in job["artifacts"]["paths"]:
            assert "Ping" in (clone.folder / path).read_text()

    def test_it_installs_the_command_line(self, root: Path) -> None:
        assert yaml_of_page(root, ".gitlab-ci.yml")["schema"]["before_script"] == ["pip install 'kafkawire[cli]'"]


@pytest.mark.extended
class TestOwnCheck:
    """``.ci/check-schema``, which ``make check`` runs."""

    SCRIPT = ".ci/check-schema kafkawire"

    @pytest.fixture(autouse=True)
    def _script(self, root: Path, clone: Clone) -> None:
        (clone.folder / ".ci").mkdir()
        shutil.copy(root / ".ci" / "check-schema", clone.folder / ".ci")

    def test_make_check_runs_it(self, root: Path) -> None:
        assert "\t.ci/check-schema $(BIN)/kafkawire\n" in (root / "Makefile").read_text()

    def test_a_clone_without_tags_and_main_is_reported_and_passes(self, clone: Clone) -> None:
        done = clone.run(self.SCRIPT)

        assert done.returncode == 0
        assert "there is nothing to compare specs with" in done.stdout

    @pytest.mark.parametrize("branch", ["main", "origin/main"])
    def test_the_main_branch_is_compared_with(self, clone: Clone, branch: str) -> None:
        clone.run(f"git update-ref {'refs/heads/main' if branch == 'main' else 'refs/remotes/origin/main'} HEAD")
        write(clone.folder, NARROW)

        done = clone.run(self.SCRIPT)

        assert done.returncode == 1
        assert done.stdout.startswith(f"schema check: specs against {branch}\n")

    def test_the_last_release_goes_before_the_main_branch(self, clone: Clone) -> None:
        write(clone.folder, EXTENDED)
        clone.run("git branch main; git tag other; git tag v0.9.0; git commit -qam next; git tag v1.0.0")

        done = clone.run(self.SCRIPT)

        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("schema check: specs against v0.9.0\n")

    def test_accepted_changes_pass(self, clone: Clone) -> None:
        clone.run("git branch main")
        write(clone.folder, NARROW)
        (clone.folder / ".ci" / "accepted-schema-changes.toml").write_text(
            '[[accepted]]\nrule = "conv-type"\nmessage = "Ping"\nreason = "it is not in use yet"\n'
        )

        done = clone.run(self.SCRIPT)

        assert done.returncode == 0, done.stdout + done.stderr
