"""Configurations are those of Apache Kafka, and files of properties mean what they mean to Java."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.apache_kafka.config_definitions import DATA, SOURCES, as_data, definitions_of
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool

from kafkawire.broker.served_apis import RELEASE
from kafkawire.model.configs.definitions import definitions
from kafkawire.model.properties_file import PropertiesError, parse_properties

pytestmark = pytest.mark.conformance

_FILES = 400
_PIECES = (
    "a",
    "b",
    " ",
    "\t",
    "\f",
    "=",
    ":",
    "#",
    "!",
    "\\",
    "\n",
    "\r",
    "\r\n",
    "\\u0041",
    "\\u00",
    "\\n",
    "é",
    "\\\n",
)


def test_definitions_are_those_of_the_release_that_the_broker_answers_as() -> None:
    """``python -m tests.apache_kafka.config_definitions`` writes the file again."""
    theirs = definitions_of(RELEASE)
    assert definitions() == theirs
    assert DATA.read_bytes() == as_data(theirs)


def test_files_of_properties_mean_what_they_mean_to_java(tmp_path: Path) -> None:
    chance = random.Random(54)
    files = [tmp_path / f"{number}.properties" for number in range(_FILES)]
    for file in files:
        text = "".join(chance.choices(_PIECES, k=chance.randrange(40)))
        file.write_bytes(text.encode())
    printed = run_tool(RELEASE, "configurations.PropertiesFile", *map(str, files), plugins=[compiled(RELEASE, SOURCES)])
    for file, expected in zip(files, json.loads(printed.splitlines()[-1]), strict=True):
        text = file.read_bytes().decode()
        try:
            assert parse_properties(text) == expected, text
        except PropertiesError:
            assert expected == "IllegalArgumentException", text
