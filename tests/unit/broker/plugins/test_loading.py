from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.broker import CreateTopicPolicy
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.plugins.loading import plugged_in

PROPERTY = "create.topic.policy.class.name"
MODULE = """
from kafkawire.broker import CreateTopicPolicy

class Good(CreateTopicPolicy):
    def validate(self, request):
        pass

class Outer:
    class Inner(Good):
        pass

class Demanding(Good):
    def __init__(self, much):
        pass

class Unfinished(CreateTopicPolicy):
    pass

class Other:
    def validate(self, request):
        pass

class Alike:
    def configure(self, configs):
        pass

    def validate(self, request):
        pass

    def close(self):
        pass

value = 5
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugged_in_module.py").write_text(MODULE)
    (tmp_path / "broken_module.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)


def loaded(text: str) -> CreateTopicPolicy | None:
    return plugged_in(BrokerConfiguration({PROPERTY: text}), PROPERTY, CreateTopicPolicy)


def test_a_property_names_a_class() -> None:
    assert type(loaded("plugged_in_module:Good")).__name__ == "Good"
    assert type(loaded("plugged_in_module:Outer.Inner")).__qualname__ == "Outer.Inner"


def test_a_class_with_all_methods_needs_no_base() -> None:
    assert type(loaded("plugged_in_module:Alike")).__name__ == "Alike"


def test_no_property_is_no_plug_in() -> None:
    assert plugged_in(BrokerConfiguration({}), PROPERTY, CreateTopicPolicy) is None
    assert loaded("") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("org.example.Policy", "write module:Class"),
        ("module:", "write module:Class"),
        ("a b:C", "write module:Class"),
        ("no_such_module:Policy", "cannot be imported"),
        ("broken_module:Policy", "cannot be imported .*no_such_module"),
        ("plugged_in_module:Missing", "has no Missing"),
        ("plugged_in_module:Other", "derived from kafkawire.broker.plugins.create_topic_policy:CreateTopicPolicy"),
        ("plugged_in_module:Other", "configure, close is missing"),
        ("plugged_in_module:value", "no class"),
        ("plugged_in_module:Demanding", "without arguments"),
        ("plugged_in_module:Unfinished", "without arguments .*abstract"),
    ],
)
def test_the_error_of_a_class_that_cannot_be_loaded_has_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as raised:
        loaded(text)
    assert str(raised.value).startswith(f"{PROPERTY}={text}: ")
