"""Options that several commands share: a NamedTuple has them, and a command takes it as one value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, get_type_hints


def is_bundle(annotation: object) -> bool:
    """Whether it is a NamedTuple, each field of which is an option."""
    return isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields")


def with_options_of_bundles(function: Callable[..., None], parameters: Iterable[Parameter]) -> Callable[..., None]:
    """A command that Typer sees with the fields of each bundle in place of it.

    Args:
        function: takes the parameters, by their names.
        parameters: those of the command. Fields of a bundle have its defaults and the annotations of options.
    """
    listed = list(parameters)

    @functools.wraps(function)
    def command(**given: Any) -> None:  # noqa: ANN401 what Typer has read
        function(**_gathered(listed, given))

    signature = Signature([each for parameter in listed for each in _expanded(parameter)])
    command.__signature__ = signature  # type: ignore[attr-defined] # what inspect and Typer read first
    command.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    del command.__wrapped__  # whose annotations Typer would read
    return command


def _expanded(parameter: Parameter) -> Iterator[Parameter]:
    """The parameter itself, or the fields of a bundle."""
    bundle = parameter.annotation
    if not is_bundle(bundle):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(bundle, include_extras=True)
    for name in bundle._fields:
        default = bundle._field_defaults.get(name, Parameter.empty)
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])


def _gathered(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the parameters; what is not given has its default."""
    values: dict[str, Any] = {}
    for parameter in parameters:
        bundle = parameter.annotation
        if is_bundle(bundle):
            values[parameter.name] = bundle(**{name: given[name] for name in bundle._fields if name in given})
        elif parameter.name in given:
            values[parameter.name] = given[parameter.name]
    return values
