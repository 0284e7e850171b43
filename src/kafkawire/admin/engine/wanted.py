"""What a call wants of each thing, where its arguments may name a thing more than once.

Equal items of any call are sent once and reported as often as they are given: nothing is lost by that. Where an
argument says more than which thing it is about, two of them about one thing may contradict each other. A broker would
take one of them, or refuse both; here none of them is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from kafkawire.wire.kafka_errors import KafkaError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Wanted(Generic[K, T]):
    """What is wanted of each thing.

    Args:
        given: the arguments, in order.
        key: gives the thing that an argument is about, which is the item of the call.
        together: what two arguments about one thing come to; an error if they contradict each other.

    Attributes:
        items: the thing that each argument is about, as often as it is given.
        values: thing to what is wanted of it, without those that are refused.
        refused: thing to why nothing of it is sent.
    """

    def __init__(self, given: Iterable[T], key: Callable[[T], K], together: Callable[[T, T], T | KafkaError]) -> None:
        self.items: list[K] = []
        self.values: dict[K, T] = {}
        self.refused: dict[K, KafkaError] = {}
        for argument in given:
            item = key(argument)
            self.items.append(item)
            if item in self.refused:
                continue
            outcome = together(self.values[item], argument) if item in self.values else argument
            if isinstance(outcome, KafkaError):
                self.refused[item] = outcome
                del self.values[item]
            else:
                self.values[item] = outcome
