"""Changes of metadata by one client: a broker that was killed keeps the first ones, and all that it has answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeAlias, TypeVar

from tests.embedded.mortal_clients import MortalClient, World

from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafkawire.wire import Message

State: TypeAlias = Mapping[tuple[str, ...], int]
"""What metadata says: quotas of users, partitions of topics, and configurations."""

Change: TypeAlias = Mapping[tuple[str, ...], int | None]

TOPICS: Final = ("a", "c", "d")
COMPACTED: Final = ("c",)
_TOPIC: Final = 2
_NAME: Final = "file.delete.delay.ms"
"""A configuration that only has a number of the law: which of the topics of a name it is."""

_ALTERED: Final = "retention.ms"
_USERS: Final = ("u", "v", "w")
_QUOTA: Final = "producer_byte_rate"
_LONG: Final = 10**12

R = TypeVar("R", bound=Message)
_Error: TypeAlias = Callable[[], Awaitable[int]]


def state_of(image: MetadataImage) -> State:
    """What the metadata of a broker says."""
    state: dict[tuple[str, ...], int] = {}
    for entity, values in image.client_quotas.by_entity.items():
        for key, value in values.items():
            state["quota", str(entity["user"]), key] = int(value)
    for name in TOPICS:
        topic = image.topics.by_name.get(name)
        if topic is not None:
            state["topic", name] = len(topic.partitions)
        for key in (_NAME, _ALTERED):
            text = image.configs.of(_TOPIC, name).get(key)
            if text is not None:
                state["config", name, key] = int(text)
    return state


class Admin(MortalClient):
    """Changes metadata, one or two changes at a time."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self._known: State = {}
        self._changes: list[Change] = []
        self._answered = 0

    @property
    def is_ready(self) -> bool:
        """Whether the topics exist that others use."""
        return {("topic", "a"), ("topic", "c")} <= self._known.keys()

    async def act(self) -> None:
        missing = [name for name in ("a", "c") if ("topic", name) not in self._known]
        if missing:
            await self._made(missing[0])
        elif self.chance.random() < 0.6:
            answers = [self.chance.choice([self._quotas, self._configs])() for _ in range(self.chance.randint(1, 2))]
            for answer in answers:
                self._answered_with(await answer())
        elif ("topic", "d") not in self._known:
            if not self.world.is_writing:  # else its records would be in a topic of which it has not heard
                await self._made("d")
        elif self.chance.random() < 0.5:
            await self._grown("d")
        else:
            await self._deleted("d")

    def check(self, image: MetadataImage) -> None:
        """After a start, the metadata has the first changes, and all that were answered.

        Raises:
            AssertionError: it has not.
        """
        found = state_of(image)
        for count in range(len(self._changes), self._answered - 1, -1):
            if found == self._after(count):
                self._settle(count)
                return
        raise AssertionError(f"metadata is {found} instead of {[self._after(n) for n in self._counts()]}")

    def _counts(self) -> range:
        return range(self._answered, len(self._changes) + 1)

    def _after(self, count: int) -> State:
        state = {**self._known}
        for change in self._changes[:count]:
            for key, value in change.items():
                if value is None:
                    state.pop(key, None)
                else:
                    state[key] = value
        return state

    def _settle(self, count: int) -> None:
        """The first changes are made, and the others are not."""
        self._known, self._changes, self._answered = self._after(count), [], 0
        records = self.world.records
        records.incarnations = {
            name: number for name in TOPICS if (number := self._known.get(("config", name, _NAME))) is not None
        }

    def _answered_with(self, error: int) -> None:
        assert not error, f"{self._changes[self._answered]}: error {error}"
        self._answered += 1
        if self._answered == len(self._changes):
            self._settle(self._answered)

    def _quotas(self) -> _Error:
        number, users = _LONG + self.world.next_number(), self.chance.sample(_USERS, 2)
        asked = AlterClientQuotasRequest
        operations = (asked.OpData(_QUOTA, float(number)),)
        entries = tuple(asked.EntryData((asked.EntityData("user", user),), operations) for user in users)
        self._changes.append({("quota", user, _QUOTA): number for user in users})
        answer = self.client.send(asked(entries), 1, AlterClientQuotasResponse)
        return partial(_error, answer, lambda found: max(entry.error_code for entry in found.entries))

    def _configs(self) -> _Error:
        number, name = _LONG + self.world.next_number(), self.chance.choice(["a", "c"])
        asked = IncrementalAlterConfigsRequest
        resource = asked.AlterConfigsResource(_TOPIC, name, (asked.AlterableConfig(_ALTERED, 0, str(number)),))
        self._changes.append({("config", name, _ALTERED): number})
        answer = self.client.send(asked((resource,)), 1, IncrementalAlterConfigsResponse)
        return partial(_error, answer, lambda found: found.responses[0].error_code)

    async def _made(self, name: str) -> None:
        number, count = self.world.next_number(), 3 if name == "a" else 1
        texts = {"segment.ms": "30", _NAME: str(number), _ALTERED: str(_LONG)}
        if name in COMPACTED:
            texts |= {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
        configs = tuple(CreateTopicsRequest.CreatableTopicConfig(key, text) for key, text in texts.items())
        topic = CreateTopicsRequest.CreatableTopic(name, count, 1, configs=configs)
        self._changes.append(
            {("topic", name): count, ("config", name, _NAME): number, ("config", name, _ALTERED): _LONG}
        )
        answer = await self.client.send(CreateTopicsRequest((topic,)), 5, CreateTopicsResponse)
        self._answered_with(answer.topics[0].error_code)

    async def _grown(self, name: str) -> None:
        count = self._known["topic", name] + 1
        self._changes.append({("topic", name): count})
        topic = CreatePartitionsRequest.CreatePartitionsTopic(name, count, None)
        answer = await self.client.send(CreatePartitionsRequest((topic,), 1000), 2, CreatePartitionsResponse)
        self._answered_with(answer.results[0].error_code)

    async def _deleted(self, name: str) -> None:
        self._changes.append({key: None for key in self._known if key[1] == name})
        answer = await self.client.send(
            DeleteTopicsRequest(topic_names=(name,), timeout_ms=1000), 5, DeleteTopicsResponse
        )
        self._answered_with(answer.responses[0].error_code)


async def _error(answer: Awaitable[R], error_of: Callable[[R], int]) -> int:
    return error_of(await answer)
