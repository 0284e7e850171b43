"""The plug-in interface of what can be configured again while the broker runs (KIP-226, KIP-257)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping


class Reconfigurable(ABC):
    """A quota callback that reacts to changes of its configuration: derive the class from this one too.

    The configurations are properties of the broker, also such as only the callback knows. A change that is requested
    for the broker, or for all brokers, is validated before it is made, and passed on when it is made. All methods are
    called from the broker's event loop and should be quick.

    Example:
        ```python
        from collections.abc import Collection, Mapping

        from kafkawire.broker import ClientQuotaCallback, ConfigurationError, Reconfigurable


        class TeamQuotas(ClientQuotaCallback, Reconfigurable):  # its other methods are left out here
            def reconfigurable_configs(self) -> Collection[str]:
                return {"team.byte.rate"}

            def validate_reconfiguration(self, configs: Mapping[str, str]) -> None:
                if not configs.get("team.byte.rate", "0").isdecimal():
                    raise ConfigurationError("team.byte.rate must be a number of bytes")

            def reconfigure(self, configs: Mapping[str, str]) -> None:
                self.rate = int(configs.get("team.byte.rate", "0"))
        ```
    """

    @abstractmethod
    def reconfigurable_configs(self) -> Collection[str]:
        """The names of the configurations whose changes concern the plug-in."""

    @abstractmethod
    def validate_reconfiguration(self, configs: Mapping[str, str]) -> None:
        """Accept new configurations, or raise.

        Args:
            configs: all properties of the broker as they would be.

        Raises:
            ConfigurationError: the client gets the message, and nothing is changed. Any other
                exception is a defect: it is logged, and the client gets a general message.
        """

    @abstractmethod
    def reconfigure(self, configs: Mapping[str, str]) -> None:
        """Use new configurations.

        Called after `validate_reconfiguration`; also after ``configure`` at the start, if configurations were changed
        while the broker ran before. Exceptions are logged.

        Args:
            configs: all properties of the broker as they are now.
        """


def needs_reconfiguration(plugin: Reconfigurable, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether any of the configurations that concern a plug-in differ."""
    return any(before.get(name) != after.get(name) for name in plugin.reconfigurable_configs())
