"""Checks of the arguments of methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar, cast, get_type_hints

import msgspec

from kafkawire.arguments.annotations import expectation_of
from kafkawire.arguments.expectations import Expectation, named

P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """A method that compares its arguments with its annotations before it does anything.

    Raises:
        TypeError: when it is called (a coroutine function: when it is awaited) with something else.
    """
    parameters = parameters_of(function)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> object:
            given = parameters.checked(args, kwargs)
            return await cast(Awaitable[object], function(*given.args, **given.kwargs))

        return cast(Callable[P, T], awaited)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        given = parameters.checked(args, kwargs)
        return function(*given.args, **given.kwargs)

    return called


class Given(msgspec.Struct):
    """The arguments of one call.

    Attributes:
        args, kwargs: by position and by name.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class Parameters:
    """The parameters of a method and what they may be, found out when it is called first.

    Args:
        function: the function; its first parameter is the object.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        owner, _, name = function.__qualname__.rpartition(".")
        self._name = owner if name == "__init__" else name
        self._expectations: dict[str, Expectation | None] = {}

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """Its signature."""
        return inspect.signature(self._function)

    def expectation(self, name: str) -> Expectation | None:
        """What a parameter may be, found out when it is given first; None if it has no annotation."""
        if name not in self._expectations:
            annotation = self.signature.parameters[name].annotation
            self._expectations[name] = None if annotation is inspect.Parameter.empty else self._read(annotation)
        return self._expectations[name]

    def _read(self, annotation: object) -> Expectation:
        names = vars(inspect.getmodule(self._function))
        return expectation_of(get_type_hints(SimpleNamespace(__annotations__={"it": annotation}), names)["it"])

    def checked(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Given:
        """The arguments as the method gets them; as they are if they do not fit its signature, as it will say itself.

        Raises:
            TypeError: one of them is something else than its annotation says.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            return Given(args, kwargs)
        for name, value in bound.arguments.items():
            expectation = self.expectation(name)
            if expectation is not None and type(value) not in expectation.known:
                (bound.arguments[name],) = expectation.take((value,), functools.partial(named, self._name, name))
        return Given(bound.args, bound.kwargs)


@functools.cache
def parameters_of(function: Callable[..., object]) -> Parameters:
    """The parameters of a method, whether it is wrapped or not."""
    return Parameters(inspect.unwrap(function))
