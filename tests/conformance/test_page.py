"""The program about Kafka's own classes on the page about conformance runs."""

from __future__ import annotations

import pytest
from tests.apache_kafka.oracle import Decode, Oracle
from tests.pages.proofs import ROOT
from tests.pages.shown_tests import shown_test

pytestmark = pytest.mark.conformance


def test_the_program_with_kafkas_classes_runs(oracle: Oracle) -> None:
    shown_test(ROOT / "docs" / "conformance.md", Oracle, Decode)(oracle)
