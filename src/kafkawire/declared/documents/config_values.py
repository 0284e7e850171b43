"""``configs``: configs of brokers, groups and metrics subscriptions, and the values of all configs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.declared.documents.fields import Reading, kind_of
from kafkawire.declared.documents.nodes import Node, Scalar, Table, shown
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.secret_values import read_reference
from kafkawire.declared.planned import Kind
from kafkawire.model.configs.broker_names import broker_definition, broker_synonyms
from kafkawire.model.configs.checks import InvalidValueError
from kafkawire.model.configs.definitions import ConfigDefinition, definitions
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType

BROKERS: Final = "brokers"
GROUPS: Final = "groups"
CLIENT_METRICS: Final = "client_metrics"
KEYS: Final = (BROKERS, GROUPS, CLIENT_METRICS)

DEFAULT: Final = "default"
"""The key of what holds for all brokers."""

BROKER_PATTERN: Final = f"^({DEFAULT}|0|[1-9][0-9]{{0,9}})$"
_BROKER: Final = re.compile(BROKER_PATTERN)

_AMOUNT: Final = re.compile(r"(\d{1,12})\s*([a-zA-Z]+)", re.ASCII)

_SECONDS_IN: Final[Mapping[str, int]] = MappingProxyType(
    {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "day": 86400, "days": 86400, "w": 604800}
)
_BYTES_IN: Final[Mapping[str, int]] = MappingProxyType(
    {
        **{unit: 1024**power for power, unit in enumerate(("b", "k", "m", "g", "t"))},
        **{unit: 1024**power for power, unit in enumerate(("kib", "mib", "gib", "tib"), 1)},
        **{unit: 1000**power for power, unit in enumerate(("kb", "mb", "gb", "tb"), 1)},
    }
)
_UNITS: Final[Mapping[str, tuple[str, float]]] = MappingProxyType(
    {
        "ms": ("milliseconds", 1000),
        "seconds": ("seconds", 1),
        "minutes": ("minutes", 1 / 60),
        "hours": ("hours", 1 / 3600),
    }
)


def read_config_resources(node: Node, reading: Reading) -> None:
    """Read ``configs`` of a document."""
    for key, value in reading.entries(node, "configs"):
        if key.text == BROKERS:
            _read_resources(value, ConfigResourceType.BROKER, reading)
        elif key.text == GROUPS:
            _read_resources(value, ConfigResourceType.GROUP, reading)
        elif key.text == CLIENT_METRICS:
            _read_resources(value, ConfigResourceType.CLIENT_METRICS, reading)
        elif key.text == "topics":
            reading.error(key, Rule.STRUCTURE, "configs of topics are with the topic", "write topics: NAME: configs:")
        else:
            reading.unknown(key, "configs", KEYS)


def _read_resources(node: Node, resource_type: ConfigResourceType, reading: Reading) -> None:
    for key, value in reading.entries(node, resource_type.name.lower()):
        resource = ConfigResource(resource_type, key.text)
        if resource_type is ConfigResourceType.BROKER:
            if not _BROKER.fullmatch(key.text):
                message = f"{shown(key.text)} is no broker"
                reading.error(key, Rule.STRUCTURE, message, "write the id of a broker, or default for all brokers")
                continue
            resource = ConfigResource.broker_default() if key.text == DEFAULT else resource
            if resource.name and resource.node is None:
                reading.error(key, Rule.VALUE, f"{key.text} is too high for the id of a broker", "correct it")
                continue
        elif not key.text:
            reading.error(key, Rule.STRUCTURE, "the name is empty")
            continue
        if reading.is_new(Kind.CONFIGS, resource, key, f"the configuration of {resource_type.name.lower()} {key.text}"):
            reading.configs[resource] = read_configs(value, resource, reading)


def read_configs(node: Node, resource: ConfigResource, reading: Reading) -> dict[str, str | None]:
    """The configs of a resource by name; None for one that is not to be set, or whose value is a secret elsewhere."""
    configs: dict[str, str | None] = {}
    for key, value in reading.entries(node, "configs"):
        if not key.text:
            reading.error(key, Rule.STRUCTURE, "the name of a config is empty")
        elif isinstance(value, Scalar):
            if value.is_null or _is_valid(resource, key, value, value.text, reading):
                configs[key.text] = None if value.is_null else value.text
        elif isinstance(value, Table):
            _read_secret(key, value, resource, configs, reading)
        else:
            text = _joined(value.items, reading)
            if text is not None and _is_valid(resource, key, value, text, reading):
                configs[key.text] = text
    return configs


def _joined(items: list[Node], reading: Reading) -> str | None:
    """The entries of a list, with commas between them."""
    texts: list[str] = []
    for item in items:
        if not isinstance(item, Scalar) or item.is_null:
            reading.error(item, Rule.STRUCTURE, f"an entry of a list: expected a text, found {kind_of(item)}")
        elif "," in item.text:
            reading.error(item, Rule.VALUE, "an entry of a list has a comma, which separates entries", "split it")
        else:
            texts.append(item.text)
    return ",".join(texts) if len(texts) == len(items) else None


def _read_secret(
    key: Scalar, value: Table, resource: ConfigResource, configs: dict[str, str | None], reading: Reading
) -> None:
    reference = read_reference(value, reading)
    if reference is None:
        return
    definition = _definition(resource, key.text)
    if definition is not None and not definition.is_sensitive:
        reading.error(value, Rule.VALUE, f"{key.text} is no secret", "write its value")
        return
    if resource.resource_type is ConfigResourceType.TOPIC:
        reading.error(value, Rule.VALUE, "topics have no secret configs", "write the value")
        return
    configs[key.text] = None
    reading.secrets[resource, key.text] = reference


def _is_valid(resource: ConfigResource, key: Scalar, node: Node, text: str, reading: Reading) -> bool:
    """Whether brokers accept a value; else a problem is added. Unknown names are warned of, once each."""
    place = -1 if resource == ConfigResource.broker_default() else resource.resource_type.value
    cached = (place, key.text, text)
    if cached in reading.checked_values:
        return True
    definition = _definition(resource, key.text)
    if definition is None:
        _warn_of_unknown(resource, key, reading)
        return True
    if definition.is_sensitive:
        remedy = "write {env: NAME}, {file: PATH} or {command: [...]}"
        reading.hide(node)
        reading.error(node, Rule.SECRET, f"{key.text} is a secret, which documents do not hold", remedy)
        return False
    refusal = _refusal_of_place(resource, key.text)
    if refusal is not None:
        reading.error(key, Rule.VALUE, *refusal)
        return False
    name = broker_synonyms(key.text)[-1] if key.text.startswith("listener.name.") else key.text
    try:
        definition.value(name, text)
    except InvalidValueError as error:
        reading.error(node, Rule.VALUE, str(error), _with_unit(key.text, text))
        return False
    reading.checked_values.add(cached)
    return True


def _definition(resource: ConfigResource, name: str) -> ConfigDefinition | None:
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return definitions().topic.get(name)
        case ConfigResourceType.GROUP:
            return definitions().group.get(name)
        case ConfigResourceType.CLIENT_METRICS:
            return definitions().client_metrics.get(name)
        case _:
            return broker_definition(name)


def _names(resource: ConfigResource) -> Mapping[str, ConfigDefinition]:
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return definitions().topic
        case ConfigResourceType.GROUP:
            return definitions().group
        case ConfigResourceType.CLIENT_METRICS:
            return definitions().client_metrics
        case _:
            return definitions().broker


def _warn_of_unknown(resource: ConfigResource, key: Scalar, reading: Reading) -> None:
    if (resource.resource_type, key.text) in reading.unknown_configs:
        return
    reading.unknown_configs.add((resource.resource_type, key.text))
    what = resource.resource_type.name.lower().replace("_", " ")
    message = f"Kafka's own brokers have no {what} config {shown(key.text)}"
    remedy = reading.suggestion(key.text, _names(resource)) or "brokers of another release or vendor may have it"
    reading.warning(key, Rule.UNKNOWN_CONFIG, message, remedy)


def _refusal_of_place(resource: ConfigResource, name: str) -> tuple[str, str] | None:
    """Why brokers refuse to change a config there while they run, and what to do."""
    if resource.resource_type is not ConfigResourceType.BROKER or name.startswith("listener.name."):
        return None
    known = definitions()
    mode = known.update_modes.get(name)
    if mode is None and name in known.broker and name != "client.quota.callback.class":
        return f"{name} cannot be changed while a broker runs", "set it in server.properties and restart the broker"
    if name in known.of_listeners_only:
        return f"{name} can be changed only for one listener", f"write listener.name.LISTENER.{name}"
    if mode == "per-broker" and not resource.name:
        return f"{name} is set for each broker", "write it under the id of each broker"
    return None


def _with_unit(name: str, text: str) -> str:
    """The number to write in place of ``7d`` or ``1GiB``."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return "correct the value"
    amount, unit, last = int(found[1]), found[2], name.rpartition(".")[2]
    if last in _UNITS and unit.lower() in _SECONDS_IN:
        noun, factor = _UNITS[last]
        return f"write {amount * _SECONDS_IN[unit.lower()] * factor:.0f}, which are the {noun} of {text.strip()}"
    if last == "bytes" and unit.lower() in _BYTES_IN:
        return f"write {amount * _BYTES_IN[unit.lower()]}, which are the bytes of {text.strip()}"
    return "write a number without a unit"
