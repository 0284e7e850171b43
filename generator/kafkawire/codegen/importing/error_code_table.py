"""Reads the table of error codes from a release's Java classes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.parse.error_codes import ErrorCode, ErrorCodesError, parse_error_codes

PROGRAM = Path(__file__).with_name("ErrorCodes.java")
_TIMEOUT_SECONDS = 120


def java_command() -> str | None:
    """The Java launcher on the path, or None."""
    return shutil.which("java")


def read_error_codes_with_java(java: str, jars: Sequence[Path]) -> tuple[ErrorCode, ...]:
    """The error codes of a release in ascending order.

    Args:
        java: the launcher of a JDK, 17 or later.
        jars: the jar with the enumeration, and what it needs.

    Raises:
        SpecsImportError: if Java fails or prints no table.
    """
    command = [java, "-cp", os.pathsep.join(str(jar) for jar in jars), str(PROGRAM)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise SpecsImportError(f"Java did not print the error codes within {_TIMEOUT_SECONDS} seconds") from error
    if result.returncode:
        raise SpecsImportError("Java could not print the error codes:", *result.stderr.strip().splitlines()[-5:])
    try:
        return parse_error_codes(result.stdout, "the error codes that Java printed")
    except ErrorCodesError as error:
        raise SpecsImportError(str(error)) from error
