"""``broker_history`` and ``controller_history`` have registrations as Kafka's ``ClusterDelta`` changes them."""

from __future__ import annotations

from pathlib import Path

from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
)
from kafkawire.wire import Message

_INCARNATION = Uuid(b"i" * 16)
_DIRS = tuple(Uuid(letter * 16) for letter in (b"a", b"b"))
_STATE = ("fenced", "in_controlled_shutdown")


def _registered(*, listeners: str = "XY", epoch: int = 7) -> RegisterBrokerRecord:
    kinds = RegisterBrokerRecord
    return RegisterBrokerRecord(
        3,
        False,
        _INCARNATION,
        epoch,
        tuple(kinds.BrokerEndpoint(name, "kafka", 9092, 3) for name in listeners),
        (kinds.BrokerFeature("metadata.version", 7, 30),),
        "rack-a",
        log_dirs=_DIRS[:1],
    )


def _rows(tmp_path: Path, *records: Message, first: int = 0, name: str = "broker_history") -> list[Row]:
    steps = [Step(1000 * (first + each + 1), (record,)) for each, record in enumerate(records)]
    write_segment(tmp_path / METADATA_LOG, first, steps)
    return history(name, tmp_path)


def _chosen(row: Row, *names: str) -> tuple[object, ...]:
    return tuple(row[name] for name in names)


def test_a_broker_from_its_registration_to_its_removal(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        _registered(),
        UnfenceBrokerRecord(3, 7),
        BrokerRegistrationChangeRecord(3, 7, 0, 1),
        FenceBrokerRecord(3, 7),
        UnregisterBrokerRecord(3, 7),
    )
    assert [_chosen(row, *_STATE, "from_offset", "to_offset") for row in rows] == [
        (True, False, 0, 1),
        (False, False, 1, 2),
        (False, True, 2, 3),
        (True, True, 3, 4),
    ]
    assert {_chosen(row, "broker_id", "rack", "epoch", "incarnation_id") for row in rows} == {
        (3, "rack-a", 7, str(_INCARNATION))
    }
    endpoint = {"host": "kafka", "port": 9092, "security_protocol": "SASL_SSL"}
    assert rows[0]["endpoints"] == [{"name": "X", **endpoint}, {"name": "Y", **endpoint}]
    assert rows[0]["features"] == [{"name": "metadata.version", "min_version": 7, "max_version": 30}]


def test_a_change_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    """Numbers without a meaning change nothing."""
    rows = _rows(
        tmp_path,
        _registered(),
        BrokerRegistrationChangeRecord(3, 7, -1, 0, _DIRS, _DIRS[1:]),
        BrokerRegistrationChangeRecord(3, 7, 1, 9),
        BrokerRegistrationChangeRecord(3, 7, 5, 0, (), ()),
    )
    assert [_chosen(row, *_STATE) for row in rows] == [(True, False), (False, False), (True, False), (True, False)]
    one, both = [str(_DIRS[0])], [*map(str, _DIRS)]
    assert [row["log_dirs"] for row in rows] == [one, both, both, both]
    assert [row["cordoned_log_dirs"] for row in rows] == [[], both[1:], both[1:], []]


def test_a_broker_that_registers_again_begins_a_row(tmp_path: Path) -> None:
    """The record of an earlier epoch then changes nothing: in a whole log it cannot be."""
    rows = _rows(tmp_path, _registered(), _registered(epoch=9), UnfenceBrokerRecord(3, 7))
    assert [_chosen(row, "epoch", "fenced") for row in rows] == [(7, True), (9, True)]


def test_the_order_of_endpoints_is_no_change(tmp_path: Path) -> None:
    """Kafka writes them to snapshots in the order of a map."""
    folder = tmp_path / METADATA_LOG
    write_checkpoint(folder, 9, [_registered(listeners="YX")], time=9000)
    (row,) = _rows(tmp_path, _registered(listeners="XY"))
    assert _chosen(row, "valid_from", "valid_to", "added_by_snapshot") == (time(1000), None, False)


def test_a_log_without_its_beginning_has_what_changes_say(tmp_path: Path) -> None:
    rows = _rows(tmp_path, FenceBrokerRecord(3, 7), BrokerRegistrationChangeRecord(3, 8, 0, 1), first=50)
    names = ("epoch", *_STATE, "rack", "endpoints")
    assert [_chosen(row, *names) for row in rows] == [(7, True, None, None, None), (8, None, True, None, None)]


def test_a_snapshot_completes_what_changes_say(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / METADATA_LOG, 51, [_registered()], time=51_000)
    (row,) = _rows(tmp_path, FenceBrokerRecord(3, 7), first=50)
    assert _chosen(row, "fenced", "rack", "from_offset", "added_by_snapshot") == (True, "rack-a", 50, False)


def test_controllers(tmp_path: Path) -> None:
    endpoint = RegisterControllerRecord.ControllerEndpoint("CONTROLLER", "kafka", 9093, 9)
    feature = RegisterControllerRecord.ControllerFeature("kraft.version", 0, 1)
    registered = RegisterControllerRecord(1, _INCARNATION, False, (endpoint,), (feature,))
    ended, row = _rows(
        tmp_path, registered, registered, UnregisterControllerRecord(1), registered, name="controller_history"
    )
    assert _chosen(ended, "controller_id", "from_offset", "to_offset") == (1, 0, 2)
    assert row["endpoints"] == [
        {"name": "CONTROLLER", "host": "kafka", "port": 9093, "security_protocol": "UNKNOWN(9)"}
    ]
    assert row["features"] == [{"name": "kraft.version", "min_version": 0, "max_version": 1}]
    assert [each["from_offset"] for each in still_open([ended, row])] == [3]
