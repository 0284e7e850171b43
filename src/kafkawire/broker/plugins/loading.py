"""Loads plug-ins from ``module:Class``."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from inspect import isfunction
from typing import Final, TypeVar, cast

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError

P = TypeVar("P")
_NAME: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def plugged_in(configuration: BrokerConfiguration, property_name: str, kind: Callable[..., P]) -> P | None:
    """The plug-in in a property, not yet configured; None if the property is empty.

    Args:
        configuration: of the broker.
        property_name: such as ``create.topic.policy.class.name``.
        kind: the base class, or a class with the same methods.

    Raises:
        ConfigurationError: there is no such class, or it is not a plug-in of this kind.
    """
    text = configuration.text(property_name)
    return load(text, kind, property_name) if text else None


def load(text: str, kind: Callable[..., P], property_name: str) -> P:
    """An instance of a class.

    Args:
        text: ``module:Class``.
        kind: the base class, or a class with the same methods.
        property_name: the property with the text, for errors.

    Raises:
        ConfigurationError: there is no such class, it cannot be instantiated, or it is not a plug-in of this kind.
    """
    found = find(text, kind, property_name)
    try:
        return found()
    except TypeError as error:
        raise _wrong(property_name, text, f"it cannot be made without arguments ({error})") from error


def find(text: str, kind: Callable[..., P], property_name: str) -> Callable[[], P]:
    """A class, without an instance of it; otherwise as ``load``."""

    def wrong(why: str) -> ConfigurationError:
        return _wrong(property_name, text, why)

    module_name, _, class_name = text.partition(":")
    if not (_NAME.fullmatch(module_name) and _NAME.fullmatch(class_name)):
        raise wrong("write module:Class, as in my_package.policies:MyPolicy")
    try:
        found: object = importlib.import_module(module_name)
        for part in class_name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        raise wrong(f"the module cannot be imported ({error}); it must be on Python's path") from error
    except AttributeError as error:
        raise wrong(f"the module has no {class_name}") from error
    if not isinstance(kind, type):
        raise TypeError(f"{kind} is no class")
    derived_from = f"derived from {kind.__module__}:{kind.__qualname__}"
    if not isinstance(found, type):
        raise wrong(f"it is no class; write one that is {derived_from}")
    missing = [method for method in _methods_of(kind) if not callable(getattr(found, method, None))]
    if missing:
        raise wrong(f"it is not {derived_from}, nor does it have all of its methods: {', '.join(missing)} is missing")
    return cast(Callable[[], P], found)


def _methods_of(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isfunction(value) and not name.startswith("_")]


def _wrong(property_name: str, text: str, why: str) -> ConfigurationError:
    return ConfigurationError(f"{property_name}={text}: {why}")
