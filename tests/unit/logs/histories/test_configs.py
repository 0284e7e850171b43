"""Configs that are unset, hidden, or gone with their topic."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import Row, history, time
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import ReadOptions
from kafkawire.protocol import ConfigRecord, RemoveTopicRecord, TopicRecord

_TOPIC, _BROKER, _CLIENT_METRICS, _GROUP = 2, 4, 16, 32


def _rows(tmp_path: Path, *records: ConfigRecord, secrets: bool = False) -> list[Row]:
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000 * at, (record,)) for at, record in enumerate(records, 1)])
    return history("config_history", tmp_path, options=ReadOptions(secrets=secrets))


@pytest.mark.parametrize(
    ("resource_type", "name", "shown"),
    [
        (_TOPIC, "retention.ms", True),
        (_TOPIC, "plugin.of.somebody", False),
        (_BROKER, "log.cleaner.threads", True),
        (_BROKER, "ssl.key.password", False),
        (_BROKER, "sasl.jaas.config", False),
        (_BROKER, "listener.name.internal.ssl.keystore.location", True),
        (_BROKER, "listener.name.internal.ssl.keystore.password", False),
        (_BROKER, "listener.name.internal.scram-sha-512.sasl.jaas.config", False),
        (_BROKER, "plugin.of.somebody", False),
        (_GROUP, "consumer.session.timeout.ms", True),
        (_CLIENT_METRICS, "interval.ms", True),
        (77, "whatever", False),
    ],
)
def test_passwords_and_unknown_configs_are_hidden(
    tmp_path: Path, resource_type: int, name: str, *, shown: bool
) -> None:
    record = ConfigRecord(resource_type, "r", name, "value")
    (row,) = _rows(tmp_path, record)
    assert row["value"] == ("value" if shown else "[hidden]")
    (row,) = _rows(tmp_path, record, secrets=True)
    assert row["value"] == "value"


def test_unset_is_null_even_if_values_are_hidden(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        ConfigRecord(_BROKER, "1", "ssl.key.password", "old"),
        ConfigRecord(_BROKER, "1", "ssl.key.password", None),
    )
    assert [row["value"] for row in rows] == ["[hidden]", None]


def test_unsetting_what_is_not_set_is_no_row(tmp_path: Path) -> None:
    set_, unset, again = (ConfigRecord(_TOPIC, "t", "retention.ms", value) for value in ("1", None, None))
    assert _rows(tmp_path / "never", unset, again) == []
    assert [row["value"] for row in _rows(tmp_path / "set", unset, set_, unset, again)] == ["1", None]


def test_a_changed_hidden_value_is_a_new_row(tmp_path: Path) -> None:
    values = ("old", "new", "new")
    rows = _rows(tmp_path, *(ConfigRecord(_BROKER, "1", "ssl.key.password", value) for value in values))
    assert [(row["value"], row["valid_from"], row["valid_to"]) for row in rows] == [
        ("[hidden]", time(1000), time(2000)),
        ("[hidden]", time(2000), None),
    ]


def test_unknown_resource_type_keeps_its_number(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, ConfigRecord(77, "r", "n", "v"))
    assert (row["resource_type"], row["resource_type_code"]) == ("UNKNOWN(77)", 77)


def test_configs_end_with_their_topic_and_a_new_topic_of_that_name_has_none(tmp_path: Path) -> None:
    first, second, other = (Uuid(letter * 16) for letter in (b"a", b"b", b"c"))
    records = (
        (TopicRecord("t", first), ConfigRecord(_TOPIC, "t", "retention.ms", "1"), TopicRecord("u", other)),
        (ConfigRecord(_TOPIC, "t", "segment.ms", "1"),),
        (ConfigRecord(_TOPIC, "t", "segment.ms", None), ConfigRecord(_TOPIC, "u", "retention.ms", "1")),
        (RemoveTopicRecord(first),),
        (TopicRecord("t", second), ConfigRecord(_TOPIC, "t", "segment.ms", "2")),
    )
    write_segment(tmp_path / METADATA_LOG, 0, [Step(at * 1000, each) for at, each in enumerate(records, 1)])
    names = ("resource_name", "name", "value", "valid_from", "valid_to")
    rows = [tuple(row[name] for name in names) for row in history("config_history", tmp_path)]
    assert rows == [
        ("t", "segment.ms", "1", time(2000), time(3000)),
        ("t", "retention.ms", "1", time(1000), time(4000)),
        ("t", "segment.ms", None, time(3000), time(4000)),
        ("u", "retention.ms", "1", time(3000), None),
        ("t", "segment.ms", "2", time(5000), None),
    ]
