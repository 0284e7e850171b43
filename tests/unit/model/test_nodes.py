"""Bootstrap addresses, and the text of nodes."""

from __future__ import annotations

import pytest

from kafkawire.model.nodes import Node, bootstrap_nodes


@pytest.mark.parametrize(
    "servers",
    ["a:1, b:2,", ["a:1", "b:2"], ("a:1 ", " b:2"), "a:1,b:2,a:1", ["a:1,b:2"]],
    ids=["text", "list", "tuple", "twice", "text in a list"],
)
def test_bootstrap_servers_are_given_in_one_text_or_one_by_one(servers: str | list[str]) -> None:
    assert bootstrap_nodes(servers) == (Node(-1, "a", 1), Node(-2, "b", 2))


def test_ipv6_addresses_stand_in_brackets() -> None:
    (node,) = bootstrap_nodes("[::1]:9092")
    assert (node.host, node.port, node.address) == ("::1", 9092, "[::1]:9092")


@pytest.mark.parametrize(
    "servers",
    [
        "",
        " , ",
        "host",
        "host:",
        ":1",
        "host:0",
        "host:65536",
        "host:-1",
        "host:\u0663",
        "::1:9092",
        "host:9092x",
        "[]:1",
        "alice@host:1",
        "a host:1",
    ],
)
def test_an_address_that_is_none_is_refused_by_name(servers: str) -> None:
    with pytest.raises(ValueError, match=r"host:port|brackets") as raised:
        bootstrap_nodes(servers)
    assert servers.strip(" ,") in str(raised.value)


def test_an_address_without_a_port_is_refused_with_one_that_has_it() -> None:
    with pytest.raises(ValueError, match="'kafka-1' has no port: write host:port, kafka-1:9092"):
        bootstrap_nodes("localhost:9092,kafka-1")


@pytest.mark.parametrize("scheme", ["kafka", "http", "SASL_SSL"])
def test_a_scheme_before_an_address_is_refused_with_the_address_that_is_meant(scheme: str) -> None:
    with pytest.raises(ValueError, match=f"write host:port without {scheme}://, kafka-1:9092$"):
        bootstrap_nodes(f"localhost:9092,{scheme}://kafka-1:9092")


def test_a_node_whose_id_is_not_known_is_named_by_its_address() -> None:
    assert str(Node(-1, "kafka", 9092)) == "kafka:9092"
    assert str(Node(3, "kafka", 9092, "rack")) == "node 3 (kafka:9092)"
