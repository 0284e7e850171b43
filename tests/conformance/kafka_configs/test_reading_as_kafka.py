"""Values of ``--add-config`` are read as Apache's tool reads them, and keys are in the order of Java's maps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st
from tests.apache_kafka.kafka_tool import Added, KafkaTool, running_kafka_tool
from tests.apache_kafka.releases import newest_scala_tools
from tests.hypothesis_profiles import scaled

from kafkawire.cli.kafka_configs.added_configs import (
    AddedConfigsError,
    ForbiddenCharacterError,
    check_keys,
    read_added,
)
from kafkawire.cli.kafka_configs.java_order import in_properties, in_scala_map
from kafkawire.model.java_order import in_java_order

pytestmark = pytest.mark.conformance

PIECES = st.sampled_from(["a", "b.c", "x_y-z", "$k", "1", " ", "\t", ",", "=", "[", "]", "[]", ";", "é", "\n"])
TEXTS = st.lists(PIECES, max_size=14).map("".join)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@pytest.fixture(scope="module")
def tool() -> Iterator[KafkaTool]:
    with running_kafka_tool(newest_scala_tools()) as running:
        yield running


@settings(max_examples=scaled(60), deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=50))
def test_added_configs_are_those_of_kafka(texts: list[str], tool: KafkaTool) -> None:
    """C12 to C14."""
    assert [(text, ours(text)) for text in texts] == list(zip(texts, tool.added(texts), strict=True))


@settings(max_examples=scaled(60), deadline=None)
@given(keys=st.lists(st.lists(WORDS, max_size=40, unique=True), min_size=1, max_size=10))
def test_keys_are_in_the_order_of_javas_and_scalas_maps(keys: list[list[str]], tool: KafkaTool) -> None:
    for wanted, orders in zip(keys, tool.orders(keys), strict=True):
        assert in_java_order(wanted) == orders.hash_map
        assert in_properties(wanted) == orders.properties
        assert in_scala_map(wanted) == orders.scala_map


def ours(text: str) -> Added:
    try:
        configs = read_added(text)
        in_order = in_properties(configs)
        check_keys({key: configs[key] for key in in_order})
    except ForbiddenCharacterError as error:
        return Added(error=str(error))
    except AddedConfigsError as error:
        return Added(error=f"requirement failed: {error}")
    return Added([(key, configs[key]) for key in in_order])
