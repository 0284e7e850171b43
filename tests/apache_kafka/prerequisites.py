"""Prerequisites of the tests against Apache Kafka, and the one policy if they are missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from typing import NoReturn

import pytest

JAVA_RELEASE = 17
_PACKAGES = {
    "java": "openjdk-17-jdk-headless",
    "javac": "openjdk-17-jdk-headless",
    "mvn": "maven",
    "openssl": "openssl",
}


def lacking(what: str) -> NoReturn:
    """Skip the test, saying what is missing; fail it in continuous integration, where nothing may be missing."""
    reason = f"needs Apache Kafka's own classes: {what}"
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{reason} (in continuous integration this is not skipped)", pytrace=False)
    pytest.skip(reason)


def program(name: str) -> str:
    """The path of ``java``, ``javac``, ``mvn`` or ``openssl``."""
    path = shutil.which(name)
    if path is None:
        lacking(f"there is no {name} on the path (Debian: apt-get install {_PACKAGES[name]})")
    return path


def java() -> str:
    """The path of a ``java`` that is new enough."""
    path = program("java")
    printed = java_version(path)
    version = re.search(r'version "(\d+)', printed)
    if version is None or int(version[1]) < JAVA_RELEASE:
        lacking(f"Java {JAVA_RELEASE} or newer is needed, and {path} is {printed.splitlines()[0]}")
    return path


@cache
def java_version(path: str) -> str:
    """What a ``java`` says that it is."""
    return subprocess.run([path, "-version"], capture_output=True, text=True, check=True).stderr
