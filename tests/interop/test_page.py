"""The program about a cluster on the page about conformance runs."""

from __future__ import annotations

import pytest
from tests.apache_kafka.cluster import Cluster
from tests.apache_kafka.java_admin import JavaAdmin
from tests.pages.proofs import ROOT
from tests.pages.shown_tests import shown_test

pytestmark = [pytest.mark.interop, pytest.mark.extended]  # the program on the same page with Kafka's classes is fast


def test_the_program_with_a_cluster_runs(kafka_cluster: Cluster, java_admin: JavaAdmin) -> None:
    shown_test(ROOT / "docs" / "conformance.md", Cluster, JavaAdmin)(kafka_cluster, java_admin)
