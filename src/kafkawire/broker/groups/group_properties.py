"""Properties of groups: those that are set for a group come before the broker's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkawire.broker.configuration.broker_configuration import Values


class GroupProperties:
    """The properties of groups of one kind, read again where they can change while the broker runs.

    Args:
        configuration: the broker's.
        of_group: the configurations that are set for a group, by its id.
        kind: the beginning of their names, such as ``share``.
    """

    def __init__(self, configuration: Values, of_group: Callable[[str], Mapping[str, str]], kind: str) -> None:
        self._configuration = configuration
        self._of_group = of_group
        self._kind = kind

    def session_ms(self, group_id: str) -> int:
        """The time without a heartbeat after which a member is removed."""
        return self._of(group_id, "session.timeout.ms")

    def heartbeat_ms(self, group_id: str) -> int:
        """The time between heartbeats."""
        return self._of(group_id, "heartbeat.interval.ms")

    def assignment_ms(self, group_id: str) -> int:
        """The least time between two target assignments."""
        return self._of(group_id, "assignment.interval.ms")

    def _of(self, group_id: str, name: str) -> int:
        text = self._of_group(group_id).get(f"{self._kind}.{name}")
        return self._configuration.integer(f"group.{self._kind}.{name}") if text is None else int(text)
