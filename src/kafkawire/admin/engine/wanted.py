"""Arguments of a call grouped by item, where several arguments may be about one item.

Equal items of any call are sent once and reported as often as they are given. Where an argument has more than its item,
two arguments for one item may contradict each other. A broker would accept one of them, or refuse both; here neither
is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from kafkawire.wire.kafka_errors import KafkaError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Wanted(Generic[K, T]):
    """The arguments for each item.

    Args:
        given: the arguments, in order.
        key: the item of an argument.
        together: joins two arguments for one item; an error if they contradict each other.

    Attributes:
        items: the item of each argument, as often as it is given.
        values: item to its joined argument, without refused items.
        refused: item to the reason why it is not sent.
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
