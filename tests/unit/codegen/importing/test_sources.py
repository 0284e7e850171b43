"""What ``sources.toml`` may say, and how digests get into it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.sources import jars_of, parse_sources, read_sources, with_digests, with_release

DIGEST = "ab" * 32
ARTIFACTS = """
[[artifacts]]
name = "kafka-clients"
organisation = "org.apache.kafka"
folder = "common/message"
group = "clients"

[[artifacts]]
name = "kafka-storage"
organisation = "org.apache.kafka"
folder = "message"
group = "storage"
"""
RELEASES = """
[[releases]]
version = "1.0"  # the first
absent = ["kafka-storage"]

# The second.

[[releases]]
version = "2.0"
"""


def refusal(text: str) -> str:
    with pytest.raises(SpecsImportError) as refused:
        parse_sources(text, "sources.toml")
    return str(refused.value)


def test_releases_keep_their_order_and_lack_what_is_absent() -> None:
    sources = parse_sources(ARTIFACTS + RELEASES, "sources.toml")

    assert [str(jar) for jar in jars_of(sources)] == [
        "org.apache.kafka:kafka-clients:1.0",
        "org.apache.kafka:kafka-clients:2.0",
        "org.apache.kafka:kafka-storage:2.0",
    ]


def test_there_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(SpecsImportError, match=r"there is no such file"):
        read_sources(tmp_path / "sources.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("releases = [", "sources.toml: "),
        (ARTIFACTS + "releases = []", "sources.toml: "),
        (ARTIFACTS + RELEASES + 'colour = "red"', "colour"),
        (ARTIFACTS + ARTIFACTS + RELEASES, "artifact kafka-clients is listed twice"),
        (ARTIFACTS + RELEASES + RELEASES, "release 1.0 is listed twice"),
        (ARTIFACTS.replace('"storage"', '"clients"') + RELEASES, "group clients is listed twice"),
        (ARTIFACTS.replace('"storage"', '"../storage"') + RELEASES, "'../storage' cannot be the folder"),
        (ARTIFACTS.replace('"storage"', '"proposals"') + RELEASES, "'proposals' cannot be the folder"),
        (ARTIFACTS + RELEASES + 'absent = ["kafka-raft"]', "release 2.0 names the unknown artifact kafka-raft"),
        (
            ARTIFACTS + RELEASES + '[releases.sha256]\nkafka-clients = "12"',
            "release 2.0: the sha256 of kafka-clients must be 64",
        ),
        (
            ARTIFACTS + RELEASES + '[error_codes]\nartifact = "kafka-raft"',
            "error_codes names the unknown artifact kafka-raft",
        ),
        (
            ARTIFACTS + RELEASES + '[[decisions]]\nmessage="A"\nversion=0\nolder="0.9"\nnewer="2.0"\nreason=" "',
            "the decision about A 0 names the unknown release 0.9",
        ),
        (
            ARTIFACTS + RELEASES + '[[decisions]]\nmessage="A"\nversion=0\nolder="1.0"\nnewer="2.0"\nreason=" "',
            "the decision about A 0 gives no reason",
        ),
    ],
)
def test_errors_name_place_and_problem(text: str, message: str) -> None:
    assert message in refusal(text)


def test_there_must_be_a_release() -> None:
    assert "there is no release" in refusal("releases = []\n" + ARTIFACTS)


def test_digests_go_after_the_entry_of_their_release_and_comments_stay() -> None:
    digests = {"1.0": {"kafka-clients": DIGEST}, "2.0": {"kafka-clients": DIGEST, "kafka-storage": DIGEST}}

    extended = with_digests(ARTIFACTS + RELEASES, "sources.toml", digests)

    assert (
        extended
        == ARTIFACTS
        + f"""
[[releases]]
version = "1.0"  # the first
absent = ["kafka-storage"]

[releases.sha256]
kafka-clients = "{DIGEST}"

# The second.

[[releases]]
version = "2.0"

[releases.sha256]
kafka-clients = "{DIGEST}"
kafka-storage = "{DIGEST}"
"""
    )


def test_digests_are_added_to_those_that_are_there() -> None:
    text = ARTIFACTS + RELEASES + f'\n[releases.sha256]\nkafka-clients = "{DIGEST}"\n\n# The end.\n'

    extended = with_digests(text, "sources.toml", {"2.0": {"kafka-storage": DIGEST}})

    assert extended.endswith(f'kafka-clients = "{DIGEST}"\nkafka-storage = "{DIGEST}"\n\n# The end.\n')


@pytest.mark.parametrize(
    ("version", "before", "after"),
    [
        ("0.9", ARTIFACTS.rstrip("\n"), '[[releases]]\nversion = "1.0"  # the first'),
        ("1.5", 'absent = ["kafka-storage"]', "# The second."),
        ("1.10", 'absent = ["kafka-storage"]', "# The second."),
        ("10.0", 'version = "2.0"', "# The end."),
    ],
)
def test_a_release_goes_after_those_with_lower_numbers_and_comments_stay(version: str, before: str, after: str) -> None:
    text = ARTIFACTS + RELEASES + "\n# The end.\n"

    extended = with_release(text, "sources.toml", version, ["kafka-storage"])

    entry = f'\n\n[[releases]]\nversion = "{version}"\nabsent = ["kafka-storage"]\n\n'
    assert f"{before}{entry}{after}" in extended
    assert extended.replace(entry, "\n\n", 1) == text


def test_a_release_goes_after_the_digests_of_the_one_before() -> None:
    text = with_digests(ARTIFACTS + RELEASES, "sources.toml", {"2.0": {"kafka-clients": DIGEST}})

    extended = with_release(text, "sources.toml", "3.0", [])

    assert extended == text + '\n[[releases]]\nversion = "3.0"\n'


def test_decisions_may_name_the_release_that_is_to_be_added() -> None:
    decision = '\n[[decisions]]\nmessage = "A"\nversion = 0\nolder = "1.0"\nnewer = "3.0"\nreason = "made up"\n'

    added = parse_sources(with_release(ARTIFACTS + RELEASES + decision, "sources.toml", "3.0", []), "sources.toml")

    assert [decision.newer for decision in added.decisions] == ["3.0"]
    assert [release.version for release in added.releases] == ["1.0", "2.0", "3.0"]


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.0", "already has release 2.0; import it with: kafkawire specs import"),
        ("trunk", "'trunk' is not the version of a release, such as 4.4.0"),
        ("3.0-rc0", "'3.0-rc0' is not the version of a release"),
    ],
)
def test_a_release_that_cannot_be_added_is_refused(version: str, reason: str) -> None:
    with pytest.raises(SpecsImportError, match=re.escape(reason)):
        with_release(ARTIFACTS + RELEASES, "sources.toml", version, [])


def test_nothing_to_add_changes_nothing() -> None:
    assert with_digests(ARTIFACTS + RELEASES, "sources.toml", {"1.0": {}, "2.0": {}}) == ARTIFACTS + RELEASES


def test_a_file_that_cannot_be_extended_is_left_to_the_user() -> None:
    text = 'releases = [{version = "1.0"}]\n' + ARTIFACTS

    with pytest.raises(SpecsImportError, match=r"sources\.toml"):
        with_digests(text, "sources.toml", {"1.0": {"kafka-clients": DIGEST}})
