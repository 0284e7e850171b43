"""The registered brokers and controllers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

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


class RegistrationsImage:
    """All nodes.

    Attributes:
        brokers: broker id to registration, with all changes in it.
        controllers: controller id to registration.
    """

    def __init__(self) -> None:
        self.brokers: dict[int, RegisterBrokerRecord] = {}
        self.controllers: dict[int, RegisterControllerRecord] = {}

    def apply_broker(self, record: RegisterBrokerRecord) -> None:
        """Register a broker, or replace its registration."""
        self.brokers[record.broker_id] = record

    def apply_broker_change(self, record: BrokerRegistrationChangeRecord) -> None:
        """Apply the fields that are not "no change" (KIP-631, KIP-858)."""
        broker = self.brokers[record.broker_id]
        self.brokers[record.broker_id] = replace(
            broker,
            fenced=record.fenced > 0 if record.fenced else broker.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown > 0 or broker.in_controlled_shutdown,
            log_dirs=record.log_dirs or broker.log_dirs,
            cordoned_log_dirs=(
                broker.cordoned_log_dirs if record.cordoned_log_dirs is None else record.cordoned_log_dirs
            ),
        )

    def apply_fence(self, record: FenceBrokerRecord | UnfenceBrokerRecord) -> None:
        """Fence or unfence a broker."""
        self.brokers[record.id] = replace(self.brokers[record.id], fenced=isinstance(record, FenceBrokerRecord))

    def apply_unregister(self, record: UnregisterBrokerRecord) -> None:
        """Remove a broker."""
        del self.brokers[record.broker_id]

    def apply_controller(self, record: RegisterControllerRecord) -> None:
        """Register a controller, or replace its registration."""
        self.controllers[record.controller_id] = record

    def apply_unregister_controller(self, record: UnregisterControllerRecord) -> None:
        """Remove a controller."""
        self.controllers.pop(record.controller_id, None)

    def records(self) -> Iterator[Message]:
        """The records that register all nodes."""
        yield from self.brokers.values()
        yield from self.controllers.values()
