from __future__ import annotations

import pytest

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.image.configs import ConfigsImage
from kafkawire.protocol import ConfigRecord


def test_missing_properties_have_kafkas_default() -> None:
    configuration = BrokerConfiguration({"num.partitions": " 3 ", "own.property": "x"})
    assert configuration.integer("num.partitions") == 3
    assert configuration.integer("default.replication.factor") == 1
    assert configuration.boolean("auto.create.topics.enable") is True
    assert configuration.number("log.cleaner.min.cleanable.ratio") == 0.5
    assert configuration.strings("log.cleanup.policy") == ("delete",)
    assert configuration.strings("advertised.listeners") == ()
    assert configuration.text("create.topic.policy.class.name") == ""
    assert configuration.value("log.retention.ms") is None
    assert configuration.properties["own.property"] == "x"


def test_a_single_node_has_an_id_and_both_roles() -> None:
    configuration = BrokerConfiguration({})
    assert (configuration.integer("node.id"), configuration.strings("process.roles")) == (1, ("broker", "controller"))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("num.partitions", "many", "Not a number of type INT"),
        ("num.partitions", "0", "Value must be at least 1"),
        ("compression.type", "rar", "String must be one of"),
        ("listeners", "", "must not be empty"),
    ],
)
def test_wrong_values_say_which_and_why(name: str, text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as raised:
        BrokerConfiguration({name: text})
    assert f"Change {name} in the properties of the broker" in str(raised.value)


def test_passwords_are_in_no_representation() -> None:
    assert "secret" not in repr(BrokerConfiguration({"ssl.key.password": "secret"}))


def test_names_and_types_that_brokers_do_not_have_are_defects_of_the_caller() -> None:
    configuration = BrokerConfiguration({})
    with pytest.raises(KeyError):
        configuration.value("no.such")
    with pytest.raises(TypeError, match=r"num.partitions is of type int"):
        configuration.text("num.partitions")
    with pytest.raises(TypeError):
        configuration.integer("auto.create.topics.enable")


def test_a_listener_has_values_of_its_own() -> None:
    configuration = BrokerConfiguration(
        {"ssl.client.auth": "none", "listener.name.tls.ssl.client.auth": "required", "listener.name.tls.own": "x"}
    )
    assert configuration.of_listener("TLS").text("ssl.client.auth") == "required"
    assert configuration.of_listener("TLS").properties["own"] == "x"
    assert configuration.of_listener("OTHER").text("ssl.client.auth") == "none"


class TestWhatIsSetLater:
    def test_that_of_the_broker_goes_before_that_of_all(self) -> None:
        configs = ConfigsImage()
        dynamic = DynamicConfiguration(BrokerConfiguration({"max.connections": "10"}), configs)
        assert dynamic.integer("max.connections") == 10
        configs.apply(ConfigRecord(4, "", "max.connections", "20"))
        assert dynamic.integer("max.connections") == 20
        configs.apply(ConfigRecord(4, "1", "max.connections", "30"))
        assert dynamic.integer("max.connections") == 30
        configs.apply(ConfigRecord(4, "1", "max.connections", None))
        assert dynamic.integer("max.connections") == 20

    def test_static_configs_are_not_changed_by_records(self) -> None:
        configs = ConfigsImage()
        configs.apply(ConfigRecord(4, "1", "num.partitions", "9"))
        assert DynamicConfiguration(BrokerConfiguration({}), configs).integer("num.partitions") == 1

    def test_values_that_cannot_be_are_passed_over(self) -> None:
        configs = ConfigsImage()
        configs.apply(ConfigRecord(4, "1", "max.connections", "none"))
        configs.apply(ConfigRecord(4, "", "max.connections", "20"))
        assert DynamicConfiguration(BrokerConfiguration({}), configs).integer("max.connections") == 20

    def test_some_exist_only_while_brokers_run(self) -> None:
        configs = ConfigsImage()
        dynamic = DynamicConfiguration(BrokerConfiguration({}), configs)
        name = "leader.replication.throttled.rate"
        assert dynamic.integer(name) == 2**63 - 1
        configs.apply(ConfigRecord(4, "", name, "5"))
        assert dynamic.integer(name) == 5


def test_lists_have_each_entry_once() -> None:
    assert BrokerConfiguration({"log.cleanup.policy": "delete, compact,delete"}).strings("log.cleanup.policy") == (
        "delete",
        "compact",
    )
