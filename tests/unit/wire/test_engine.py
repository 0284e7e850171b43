"""The engine: which one is used, and that both of them give the same values, bytes and verdicts."""

from __future__ import annotations

import array
import copy
import math
import os
import pickle
import random
import subprocess
import sys
import threading
from collections import UserList, deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import msgspec
import pytest
from msgspec.structs import force_setattr, replace
from tests.engines import use_engine_or_skip
from tests.made.example_messages import extreme_instances, random_instance

from kafkawire import wire
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    MESSAGE_NAMES,
    FetchResponse,
    HeartbeatRequest,
    MetadataRequest,
    MetadataResponse,
    message_class,
)
from kafkawire.wire import EngineError, EngineName, Message, Struct, use_engine
from kafkawire.wire.engine import codecs
from kafkawire.wire.message_codec import FAST_PATH_FAILS

pytestmark = pytest.mark.usefixtures("no_cover")

VERSION = 12
TOPIC = MetadataRequest.MetadataRequestTopic
REQUEST = MetadataRequest((TOPIC(Uuid(b"\1" * 16), "orders"), TOPIC(name=None)), unknown_tagged_fields=((5, b"x"),))
OCTETS = REQUEST.encode(VERSION)


@pytest.fixture(autouse=True)
def _same_engine_afterwards() -> Iterator[None]:
    before = wire.ENGINE
    yield
    use_engine(before)


def native_only() -> None:
    """Skip where the engine is not built: its absence must change nothing else."""
    use_engine_or_skip("native")


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**{name: value for name, value in os.environ.items() if name != "KAFKAWIRE_ENGINE"}, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


class TestChoice:
    @pytest.mark.parametrize("name", ["python", "native", "both"])
    def test_the_environment_chooses(self, name: EngineName) -> None:
        native_only()
        done = run("from kafkawire import wire; print(wire.ENGINE)", KAFKAWIRE_ENGINE=name)
        assert (done.stdout, done.stderr) == (f"{name}\n", "")

    def test_the_native_engine_is_used_where_it_is(self) -> None:
        native_only()
        assert run("from kafkawire import wire; print(wire.ENGINE)").stdout == "native\n"

    def test_without_it_python_is_used_and_nothing_is_said(self) -> None:
        program = "import sys; sys.modules['kafkawire._native'] = None; from kafkawire import wire; print(wire.ENGINE)"
        done = run(f"{program}; from kafkawire.protocol import MetadataRequest as M; print(M().encode(12))")
        assert (done.stdout.splitlines()[0], done.returncode) == ("python", 0)
        assert done.stderr == ""

    def test_an_engine_that_is_not_installed_cannot_be_chosen(self) -> None:
        program = "import sys; sys.modules['kafkawire._native'] = None; from kafkawire import wire; print(wire.ENGINE)"
        done = run(program, KAFKAWIRE_ENGINE="native")
        assert done.returncode == 1
        assert "EngineError: the engine 'native' needs the compiled part of kafkawire" in done.stderr

    def test_an_engine_of_other_sources_is_not_used_and_one_warning_says_so(self) -> None:
        native_only()
        program = (
            "from kafkawire import _native; _native.FORM = 'cls fields'\n"
            "from kafkawire import wire\n"
            "from kafkawire.protocol import MetadataRequest as M\n"
            "print(wire.ENGINE, M.decode(M().encode(12), 12) == M(), wire.ENGINE)"
        )
        done = run(program)
        assert done.stdout == "python True python\n"
        assert done.stderr.count("RuntimeWarning: kafkawire runs without its native engine: it was built from") == 1

    def test_a_name_of_no_engine_is_refused(self) -> None:
        with pytest.raises(EngineError, match="there is no engine 'rust': set KAFKAWIRE_ENGINE to python, native or"):
            use_engine("rust")  # type: ignore[arg-type]
        done = run("from kafkawire.protocol import MetadataRequest as M; M().encode(12)", KAFKAWIRE_ENGINE="C")
        assert "EngineError: there is no engine 'C'" in done.stderr

    def test_messages_follow_a_change_of_the_engine(self) -> None:
        native_only()
        assert type(MetadataRequest.fast_codec(VERSION)).__name__ == "Codec"
        use_engine("python")
        assert type(MetadataRequest.fast_codec(VERSION)).__name__ == "GeneratedCodec"
        assert wire.ENGINE == "python"

    def test_the_module_has_no_other_attribute(self) -> None:
        with pytest.raises(AttributeError, match=r"module 'kafkawire.wire' has no attribute 'ENGIN'"):
            _ = wire.ENGIN  # type: ignore[attr-defined]


class TestBoth:
    """What ``both`` does with engines that differ; C cannot be broken for a test, so the generated part is replaced."""

    def compare(
        self, read: Callable[[bytes, int], tuple[object, int]], write: Callable[[Message], bytes] = lambda _: b""
    ) -> None:
        native_only()
        use_engine("both")
        self.codec = codecs(MetadataRequest, {VERSION: read}, {VERSION: write})[VERSION]

    def test_another_value_is_reported_with_its_place_and_without_values(self) -> None:
        topics = (TOPIC(Uuid(b"\1" * 16), "secret"), TOPIC(name=None))
        self.compare(lambda _, __: (replace(REQUEST, topics=topics), len(OCTETS)))
        with pytest.raises(EngineError) as caught:
            self.codec.read(OCTETS, 0)
        assert str(caught.value) == "the engines differ at [0].topics[0].name; please report it"

    def test_another_type_of_an_equal_value_is_reported(self) -> None:
        self.compare(lambda _, __: (replace(REQUEST, unknown_tagged_fields=[(5, b"x")]), len(OCTETS)))
        with pytest.raises(EngineError, match=r"differ at \[0\].unknown_tagged_fields;"):
            self.codec.read(OCTETS, 0)

    def test_another_end_is_reported(self) -> None:
        self.compare(lambda _, __: (REQUEST, len(OCTETS) - 1))
        with pytest.raises(EngineError, match=r"differ at \[1\];"):
            self.codec.read(OCTETS, 0)

    def test_another_verdict_is_reported(self) -> None:
        def refuse(_: object, __: object = None) -> bytes:
            raise ValueError

        self.compare(lambda _, __: (REQUEST, len(OCTETS) + 1), refuse)  # past the end is a refusal
        with pytest.raises(EngineError, match="only the generated code refuses this message"):
            self.codec.read(OCTETS, 0)
        with pytest.raises(EngineError, match="only the generated code refuses this message"):
            self.codec.write(REQUEST)
        self.compare(lambda _, __: (REQUEST, 0))
        with pytest.raises(EngineError, match="only the native engine refuses this message"):
            self.codec.read(b"", 0)

    def test_other_bytes_are_reported(self) -> None:
        self.compare(lambda _, __: (REQUEST, 1), lambda _: b"")
        with pytest.raises(EngineError, match="the engines differ; please"):
            self.codec.write(REQUEST)


class Index:
    """An integer of another class."""

    def __index__(self) -> int:
        return 3


class Float:
    """A number of another class."""

    def __float__(self) -> float:
        return 3.5


class Fails:
    """Raises something else for its number."""

    def __index__(self) -> int:
        raise KeyError("no number")


class Text(str):
    """A text of another class."""

    __slots__ = ()


class Integer(int):
    """An integer of another class."""


INTEGERS = (
    *(sign * (2**bits + more) for bits in (0, 7, 8, 15, 16, 31, 32, 63) for more in (-1, 0, 1) for sign in (1, -1)),
    10**30,
)
TEXTS = ("", "a", "é" * 70, "a" * 32767, "a" * 32768, "\ud800", Text("sub"))
OCTETS_OF_ALL_KINDS = (
    *(b"", b"a", bytes(15), bytes(16), b"a" * 200, Uuid(), bytearray(b"ab"), bytearray(16)),
    *(memoryview(b"abc"), memoryview(b"abcdef")[::2], memoryview(array.array("i", [1, 2]))),
)
SEQUENCES: tuple[object, ...] = (
    *((), [], (None,), [None], (1, 2), [1, 2], [1, "a"], (1.5,), ("a", "b"), (b"a",), [()], [Index()]),
    *(UserList([1, 2]), deque([1]), range(3), array.array("i", [1]), {1: 2}, {1}, {}, set(), frozenset()),
)
OTHERS = (
    *(None, True, False, 1.0, 1.5, math.nan, math.inf, 1j, object(), Index(), Float(), Integer(7), Integer(2**40)),
    *(SimpleNamespace(), SimpleNamespace(unknown_tagged_fields=())),
    *(TOPIC(), (TOPIC(),), HeartbeatRequest(), HeartbeatRequest),
)
ODD_VALUES: tuple[object, ...] = (*INTEGERS, *TEXTS, *OCTETS_OF_ALL_KINDS, *SEQUENCES, *OTHERS)
"""Values that users may pass by mistake, or on purpose."""

ODD_TAGS: tuple[object, ...] = (
    *(None, 0, 1, "", b"", [], (), {}, {1000: b""}, (None,), (1000,), ((1000,),), ((1000, b"", 1),)),
    *(((0, b"a"),), [(1000, b"a")], ([1000, b"a"],), ((1000, bytearray(b"a")),), ((1000, memoryview(b"a")),)),
    *(((True, b""),), ((1000, "a"),), ((1000, None),), ((1000.0, b""),), ((Index(), b""),), ((-1, b""),)),
    *(((2**31 - 2, b""),), ((2**31 - 1, b""),), ((2**40, b""),), ((1000, b""), (1000, b""))),
    *(((1001, b""), (1000, b"")), ((1000, b""), (1001, b"x" * 200))),
)
"""The same for unknown tagged fields."""


def outcome(run: Callable[[], object]) -> object:
    """What a call returns, or that it is refused."""
    try:
        return run()
    except FAST_PATH_FAILS:
        return "refused"


def structs_of(value: object) -> Iterator[Struct]:
    """A message and all structs in it, the first element of each array."""
    if isinstance(value, Struct):
        yield value
        for name in value.__struct_fields__:
            yield from structs_of(getattr(value, name))
    elif isinstance(value, tuple):
        yield from structs_of(value[0] if value else None)


def encoders(cls: type[Message], version: int) -> list[Callable[[Message], bytes]]:
    made = []
    for engine in ("python", "native"):
        use_engine(engine)
        made.append(cls.fast_codec(version).write)
    return made


@pytest.mark.extended
@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_the_engines_accept_and_refuse_the_same_values(name: str) -> None:
    """Each field of each struct has each odd value once, in the newest and in the oldest version."""
    native_only()
    cls = message_class(name)
    for version in {cls.VERSIONS[0], cls.VERSIONS[-1]}:
        python, native = encoders(cls, version)
        extremes = extreme_instances(cls, cls.layouts().of_version(version))
        for message, struct in ((each, part) for each in extremes.values() for part in structs_of(each)):
            for field in struct.__struct_fields__:
                kept = getattr(struct, field)
                for value in ODD_TAGS if field == "unknown_tagged_fields" else ODD_VALUES:
                    force_setattr(struct, field, value)
                    expected = outcome(lambda: python(message))  # noqa: B023 called at once
                    found = outcome(lambda: native(message))  # noqa: B023
                    assert found == expected, (version, type(struct).__name__, field, value)
                force_setattr(struct, field, kept)


@pytest.mark.extended
@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_the_engines_read_the_same_from_damaged_bytes(name: str) -> None:
    native_only()
    cls = message_class(name)
    chance = random.Random(name)
    for version in cls.VERSIONS:
        use_engine("both")
        read = cls.fast_codec(version).read
        layout = cls.layouts().of_version(version)
        whole = [
            message.encode(version)
            for message in extreme_instances(cls, layout).values()
            if can_be_sent(message, version)
        ]
        whole += [random_instance(chance, cls, layout).encode(version) for _ in range(3)]
        for octets in whole:
            assert read(octets, 0)[1] == len(octets)
            for damaged in damages(octets[:2000], chance):
                outcome(lambda: read(damaged, 0))  # noqa: B023 a difference is an EngineError


def can_be_sent(message: Message, version: int) -> bool:
    return outcome(lambda: message.encode(version)) != "refused"


def damages(octets: bytes, chance: random.Random) -> Iterator[bytes]:
    """The bytes cut short, with bytes changed, and with something inserted."""
    for _ in range(12):
        at = chance.randrange(len(octets) + 1)
        yield octets[:at]
        yield octets[:at] + bytes([chance.choice((0, 1, 2, 127, 128, 255, chance.randrange(256)))]) + octets[at + 1 :]
        yield octets[:at] + chance.randbytes(chance.randint(1, 5)) + octets[at:]


def test_errors_of_users_code_come_through() -> None:
    native_only()
    for encode in encoders(HeartbeatRequest, 4):
        with pytest.raises(KeyError, match="no number"):
            encode(HeartbeatRequest("g", Fails()))  # type: ignore[arg-type]


def test_code_of_users_that_changes_the_message_meanwhile_does_no_harm() -> None:
    native_only()

    class Changes:
        def __index__(self) -> int:
            for name in ("topics", "brokers", "unknown_tagged_fields"):
                force_setattr(message, name, ())
            force_setattr(topic, "partitions", ())
            topics.clear()
            return 1

    partition = MetadataResponse.MetadataResponsePartition(error_code=Changes())  # type: ignore[arg-type]
    topic = MetadataResponse.MetadataResponseTopic(
        partitions=(partition, *[MetadataResponse.MetadataResponsePartition()] * 50)
    )
    topics = [topic, MetadataResponse.MetadataResponseTopic(name="b" * 100)]
    message = MetadataResponse(topics=topics)
    del partition
    assert len(MetadataResponse.fast_codec(12).write(message)) > 1000


def test_subclasses_of_messages_and_structs_are_written_by_their_attributes() -> None:
    class MyTopic(TOPIC, frozen=True):
        note: str = ""

    class MyRequest(MetadataRequest, frozen=True):
        pass

    native_only()
    mine = MyRequest((MyTopic(Uuid(), "orders", note="x"),))
    for encode in encoders(MetadataRequest, VERSION):
        assert encode(mine) == MetadataRequest((TOPIC(Uuid(), "orders"),)).encode(VERSION)
    for engine in ("python", "native"):
        use_engine(engine)
        assert type(MyRequest.decode(OCTETS, VERSION)) is MetadataRequest


def test_results_are_objects_like_any_other() -> None:
    for engine in ("python", "native"):
        native_only()
        use_engine(engine)
        read = MetadataRequest.decode(OCTETS, VERSION)
        assert read == copy.copy(read) == copy.deepcopy(read) == pickle.loads(pickle.dumps(read)) == REQUEST  # noqa: S301 our own
        assert hash(read) == hash(REQUEST)
        assert repr(read) == repr(REQUEST)
        assert replace(read, topics=()).topics == ()
        assert msgspec.structs.asdict(read)["unknown_tagged_fields"] == ((5, b"x"),)
        assert type(read.topics[0].topic_id) is Uuid  # type: ignore[index]


def test_records_are_views_that_keep_their_buffer() -> None:
    native_only()
    partition = FetchResponse.PartitionData(records=b"some records")
    octets = FetchResponse(responses=(FetchResponse.FetchableTopicResponse(partitions=(partition,) * 2),)).encode(12)
    first, second = FetchResponse.decode(octets, 12).responses[0].partitions
    assert isinstance(first.records, memoryview)
    assert first.records.readonly
    assert first.records.obj is octets
    assert bytes(first.records) == bytes(second.records or b"") == b"some records"


def test_eight_threads_use_the_same_and_different_messages() -> None:
    native_only()
    use_engine("native")  # forgets all functions, so that threads make them
    classes: list[type[Message]] = [MetadataRequest, *map(message_class, MESSAGE_NAMES[:40])]
    wrong: list[object] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(150):
            cls = chance.choice(classes)
            version = chance.choice(cls.VERSIONS)
            message = random_instance(chance, cls, cls.layouts().of_version(version))
            if cls.decode(message.encode(version), version) != message:
                wrong.append((cls, version))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_arrays_of_equal_numbers_that_follow_each_other_become_one_tuple() -> None:
    native_only()
    partition = MetadataResponse.MetadataResponsePartition
    partitions = (
        partition(replica_nodes=(1, 2, 3), isr_nodes=(1, 2, 3), offline_replicas=(4,)),
        partition(replica_nodes=(1,)),
    )
    octets = MetadataResponse(topics=(MetadataResponse.MetadataResponseTopic(partitions=partitions),)).encode(12)
    first, second = MetadataResponse.decode(octets, 12).topics[0].partitions
    assert first.replica_nodes is first.isr_nodes
    assert (first, second) == partitions
