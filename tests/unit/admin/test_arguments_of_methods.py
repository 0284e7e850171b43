"""Every method refuses what its annotations do not allow, before anything is sent."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

import msgspec
import pytest
from tests.unit.admin.method_arguments import item_of, methods, parameters, required, sample, takes_many

from kafkawire.admin import (
    AclBinding,
    AclEvaluator,
    AclIndex,
    AdminClient,
    AdminSettings,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    ConfigChange,
    ConfigResource,
    EffectiveQuotas,
    NewPartitions,
    NewTopic,
    PlainCredentials,
    QuotaIndex,
    QuotaMatch,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
    Tls,
    TopicPartition,
)
from kafkawire.arguments.annotations import all_fields_of
from kafkawire.arguments.checks import parameters_of
from kafkawire.arguments.expectations import Alternatives, Items, OfClasses, Pairs
from kafkawire.model.groups.descriptions import GroupState
from kafkawire.model.nodes import Node

NO_COLLECTIONS = ("ab", b"ab", bytearray(b"ab"), memoryview(b"ab"), 5, object())
MANY = [
    (method, name) for method in methods() for name, hint in parameters(getattr(AdminClient, method)).items()
    if takes_many(hint)
]  # fmt: skip


class Recorder:
    """In place of what connects: says that the client went there."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    async def __call__(self, node: Node, deadline: float) -> None:
        self.nodes.append(node)
        raise AssertionError(f"a connection to {node}")


def a_client() -> tuple[AdminClient, Recorder]:
    client, recorder = AdminClient("127.0.0.1:1"), Recorder()
    client._cluster.pool._connect = recorder  # type: ignore[assignment]  # never returns
    return client, recorder


@pytest.fixture(scope="module")
def blocking() -> Iterator[tuple[BlockingAdminClient, Recorder]]:
    with BlockingAdminClient("127.0.0.1:1") as client:
        recorder = Recorder()
        client._client._cluster.pool._connect = recorder  # type: ignore[assignment]  # never returns
        yield client, recorder


def test_the_methods_that_take_many_are_found() -> None:
    assert len(MANY) > 45
    assert ("delete_topics", "topics") in MANY
    assert ("describe_configs", "keys") in MANY
    assert ("alter_configs", "configs") in MANY


@pytest.mark.parametrize(("method", "parameter"), MANY)
async def test_no_method_takes_a_string_for_a_collection(method: str, parameter: str) -> None:
    client, recorder = a_client()
    function = getattr(client, method)
    for wrong in NO_COLLECTIONS:
        with pytest.raises(TypeError, match=rf"^{method}: {parameter}: expected a (collection|mapping|sequence) of "):
            await function(**{**required(function), parameter: wrong})
    assert not recorder.nodes


@pytest.mark.parametrize(("method", "parameter"), MANY)
def test_no_method_of_the_blocking_client_does(
    method: str, parameter: str, blocking: tuple[BlockingAdminClient, Recorder]
) -> None:
    client, recorder = blocking
    function = getattr(client, method)
    for wrong in NO_COLLECTIONS:
        with pytest.raises(TypeError, match=rf"^{method}: {parameter}: expected a "):
            function(**{**required(function), parameter: wrong})
    assert not recorder.nodes


@pytest.mark.parametrize("method", methods())
async def test_every_parameter_of_every_method_is_checked(method: str) -> None:
    client, recorder = a_client()
    function = getattr(client, method)
    for parameter in parameters(function):
        if parameter == "strategy":
            continue
        with pytest.raises(TypeError, match=rf"^{method}: {parameter}: expected .*, got object"):
            await function(**{**required(function), parameter: object()})
    assert not recorder.nodes


@pytest.mark.parametrize(("method", "parameter"), MANY)
async def test_the_items_of_a_collection_are_checked(method: str, parameter: str) -> None:
    client, recorder = a_client()
    function = getattr(client, method)
    wrong = {object(): object()} if item_of(parameters(function)[parameter]) is None else [object()]
    with pytest.raises(TypeError, match=rf"^{method}: {parameter}(\[0\]| \(a key\)): expected .*, got object"):
        await function(**{**required(function), parameter: wrong})
    assert not recorder.nodes


@pytest.mark.parametrize("method", methods())
def test_arguments_that_the_annotations_allow_are_taken(method: str) -> None:
    function = getattr(AdminClient, method)

    samples = {
        name: sample(hint) for name, hint in parameters(function).items() if name not in ("strategy", "progress")
    }
    given = parameters_of(function).checked((object(),), samples)
    bound = inspect.signature(function).bind(*given.args, **given.kwargs).arguments
    assert {name: bound[name] for name in samples} == samples


def test_the_hint_says_what_to_write() -> None:
    async def call(said: str, method: str, *arguments: object) -> None:
        client, _ = a_client()
        with pytest.raises(TypeError) as raised:
            await getattr(client, method)(*arguments)
        assert str(raised.value) == said

    async def calls() -> None:
        await call(
            "delete_topics: topics: expected a collection of str or Uuid, got the string 'ab'; write ['ab']",
            "delete_topics", "ab",
        )  # fmt: skip
        await call("delete_topics: topics: expected a collection of str or Uuid, got None", "delete_topics", None)
        await call(
            "list_offsets: offsets (a key): expected TopicPartition, got tuple; write TopicPartition(topic, partition)",
            "list_offsets", {("orders", 0): -1},
        )  # fmt: skip
        await call(
            "delete_records: offsets: expected a mapping of TopicPartition to int, got list; write {key: value}",
            "delete_records", [(TopicPartition("orders", 0), 5)],
        )  # fmt: skip
        await call(
            "delete_records: offsets (a key).partition: expected int, got str; write it as a number",
            "delete_records", {TopicPartition("orders", "0"): 5},  # type: ignore[arg-type]  # the mistake
        )  # fmt: skip
        await call(
            "update_features: updates['group.version']: expected FeatureUpdate, got int; "
            "write FeatureUpdate(max_version_level)",
            "update_features", {"group.version": 1},
        )  # fmt: skip
        await call(
            "create_acls: acls[0].operation: expected AclOperation, got str; write AclOperation.DESCRIBE_CONFIGS",
            "create_acls", [AclBinding(sample(AclBinding).resource_type, "t", "User:a", "DescribeConfigs")],  # type: ignore[arg-type]  # the mistake
        )  # fmt: skip
        await call(
            "create_acls: acls: expected a collection of AclBinding, got AclBinding; "
            "write a list with the AclBinding in it",
            "create_acls", sample(AclBinding),
        )  # fmt: skip
        await call(
            "incremental_alter_configs: changes[ConfigResource(resource_type=<ConfigResourceType.TOPIC: 2>, name='t')]"
            "[1].value: expected str or None, got int; write it as text",
            "incremental_alter_configs",
            {ConfigResource.topic("t"): [ConfigChange.delete("a"), ConfigChange.set("b", 5000)]},  # type: ignore[arg-type]  # the mistake
        )  # fmt: skip

    asyncio.run(calls())


def test_a_secret_is_in_no_error() -> None:
    async def calls() -> None:
        client, _ = a_client()
        for method, arguments in (
            ("renew_delegation_token", ("secret",)),
            ("alter_configs", ({ConfigResource.topic("t"): "secret"},)),
        ):
            with pytest.raises(TypeError) as raised:
                await getattr(client, method)(*arguments)
            assert "secret" not in str(raised.value)

    asyncio.run(calls())
    for make in (
        lambda: PlainCredentials("alice", b"secret"),  # type: ignore[arg-type]  # the mistake
        lambda: ScramUpsertion("alice", ScramMechanism.SCRAM_SHA_256, ["secret"]),  # type: ignore[arg-type]  # the mistake
        lambda: Tls(key_password=b"secret", certificate="c"),  # type: ignore[arg-type]  # the mistake
    ):
        with pytest.raises(TypeError, match="expected str") as raised:
            make()
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (NewTopic, {"name": "t", "replica_assignments": {0: "12"}}),
        (NewTopic, {"name": "t", "replica_assignments": "12"}),
        (NewTopic, {"name": "t", "configs": "ab"}),
        (NewTopic, {"name": "t", "configs": [("a", "b")]}),
        (NewPartitions, {"total": 3, "new_assignments": "12"}),
        (NewPartitions, {"total": 3, "new_assignments": ["12"]}),
        (NewPartitions, {"total": 3, "new_assignments": [{1, 2}]}),
        (ClientQuotaFilter, {"components": "ab"}),
        (ClientQuotaFilter, {"components": ["user"]}),
        (ClientQuotaEntity, {"parts": "ab"}),
        (ClientQuotaEntity, {"parts": {"user": 5}}),
        (ClientQuotaEntity, {"user": b"a"}),
        (ClientQuotaAlteration, {"entity": {"user": "a"}, "values": {}}),
        (ClientQuotaAlteration, {"entity": ClientQuotaEntity(user="a"), "values": "ab"}),
        (ClientQuotaAlteration, {"entity": ClientQuotaEntity(user="a"), "values": {"producer_byte_rate": "5"}}),
        (AclEvaluator, {"acls": [], "super_users": "User:admin"}),
        (AclEvaluator, {"acls": "ab"}),
        (AclIndex, {"acls": ["ab"]}),
        (QuotaIndex, {"entities": "ab"}),
        (EffectiveQuotas, {"described": "ab"}),
        (AdminSettings, {"request_timeout": "30"}),
        (AdminClient, {"bootstrap_servers": b"localhost:9092"}),
        (AdminClient, {"bootstrap_servers": ["localhost:9092", 5]}),
        (AdminClient, {"bootstrap_servers": "localhost:9092", "tls": True}),
        (AdminClient, {"bootstrap_servers": "localhost:9092", "credentials": ("alice", "password")}),
        (AdminClient, {"bootstrap_servers": "localhost:9092", "settings": {"call_timeout": 5}}),
        (BlockingAdminClient, {"bootstrap_servers": "localhost:9092", "tls": True}),
    ],
)
def test_constructors_check_their_arguments(kind: type, fields: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r": expected .*, got "):
        kind(**fields)


NEEDED: dict[type, dict[str, object]] = {NewTopic: {"name": "t"}, NewPartitions: {"total": 3}}


def values_of(expectation: object) -> set[type[msgspec.Struct]]:
    """The structs that an argument may hold."""
    match expectation:
        case OfClasses():
            return {each for each in expectation.classes if issubclass(each, msgspec.Struct)}
        case Items():
            return values_of(expectation.item)
        case Pairs():
            return values_of(expectation.key) | values_of(expectation.value)
        case Alternatives():
            return {one for each in expectation.alternatives for one in values_of(each)}
    raise AssertionError(expectation)


def test_every_value_with_a_collection_that_a_method_takes_refuses_a_string_for_it() -> None:
    found = {
        (struct, name)
        for method in methods()
        for allowed in [parameters_of(getattr(AdminClient, method))]
        for parameter in allowed.signature.parameters
        if parameter not in {"self", "strategy"}
        if (expectation := allowed.expectation(parameter)) is not None
        for struct in values_of(expectation)
        for name, field in all_fields_of(struct).items()
        if not isinstance(field, OfClasses)
    }
    assert {struct for struct, _ in found} == {NewTopic, NewPartitions, ClientQuotaFilter}
    for struct, name in found:
        with pytest.raises(TypeError, match=f"{name}: expected a "):
            struct(**{**NEEDED.get(struct, {}), name: "ab"})


def test_a_generator_is_read_once_and_a_list_in_a_value_is_converted() -> None:
    topic = NewTopic("t", replica_assignments={0: (node for node in (1, 2))})  # type: ignore[dict-item]  # also taken
    assert topic.replica_assignments == {0: (1, 2)}
    component = ClientQuotaFilterComponent("user", QuotaMatch.ANY)
    assert hash(ClientQuotaFilter([component])) == hash(ClientQuotaFilter((component,)))  # type: ignore[arg-type]  # also taken


def test_the_blocking_client_reads_a_generator_in_the_thread_of_the_caller() -> None:
    """A generator may call the client itself: in the thread of the event loop that could not work."""
    given = parameters_of(AdminClient.delete_topics).checked((object(), (name for name in "ab")), {})
    assert given.args[1] == ("a", "b")


def test_scram_mechanisms_are_taken_by_the_names_of_kafka() -> None:
    assert ScramUpsertion("u", "SCRAM-SHA-512", "x").mechanism is ScramMechanism.SCRAM_SHA_512
    assert ScramDeletion("u", "SCRAM-SHA-256") == ScramDeletion("u", ScramMechanism.SCRAM_SHA_256)
    with pytest.raises(ValueError, match="expected SCRAM-SHA-256 or SCRAM-SHA-512, got 'PLAIN'"):
        ScramDeletion("u", "PLAIN")  # type: ignore[arg-type]  # the mistake


def test_entities_are_made_of_names() -> None:
    assert ClientQuotaEntity(user="a") == ClientQuotaEntity({"user": "a"})
    assert ClientQuotaEntity(user="a", client_id=None) == ClientQuotaEntity({"user": "a", "client-id": None})
    assert ClientQuotaEntity(ip=None) == ClientQuotaEntity.of_ip(None)
    with pytest.raises(TypeError, match="give a name"):
        ClientQuotaEntity()
    with pytest.raises(TypeError, match="not both"):
        ClientQuotaEntity({"user": "a"}, ip="::1")


def test_a_config_that_is_no_text_is_refused_with_what_to_write() -> None:
    with pytest.raises(
        TypeError, match=r"NewTopic: configs\['retention.ms'\]: expected str, got int; write it as text"
    ):
        NewTopic("t", configs={"retention.ms": 5000})  # type: ignore[dict-item]  # the mistake


def test_the_words_of_enumerations_are_taken_as_text() -> None:

    given = parameters_of(AdminClient.list_groups).checked((object(),), {"states": ["Stable"]})
    assert given.kwargs["states"] == [GroupState.STABLE]
