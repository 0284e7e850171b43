"""SCRAM credentials: which are refused, and logins with the stored ones (C27 to C30)."""

from __future__ import annotations

import pytest
from tests.embedded.handlers import handled, handlers_by_request

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.controller import Controller
from kafkawire.broker.handlers.scram_users import ScramHandlers
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.requests import Call
from kafkawire.broker.sessions import ANONYMOUS, Session
from kafkawire.model.scram import ScramMechanism, ScramUpsertion, salted
from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    FeatureLevelRecord,
)
from kafkawire.wire import Message

Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
SESSION = Session(ANONYMOUS, "127.0.0.1", "PLAINTEXT")


class Broker:
    """The handlers of credentials on a state of their own."""

    def __init__(self, *, may: bool = True) -> None:
        self.controller = Controller(MetadataLog(), MetadataImage())
        authorizer = StandardAuthorizer(self.controller.image.acls, (), allow_everyone_if_no_acl=may)
        self._handlers = handlers_by_request(ScramHandlers, self.controller, Authorization(authorizer))

    def ask(self, request: Message, key: int) -> Message:
        return handled(self._handlers[type(request)], request, Call(key, 0, "test", SESSION))

    def alter(self, *alterations: Upsertion | Deletion) -> dict[str, int]:
        deletions = tuple(one for one in alterations if isinstance(one, Deletion))
        upsertions = tuple(one for one in alterations if isinstance(one, Upsertion))
        request = AlterUserScramCredentialsRequest(deletions, upsertions)
        answer = self.ask(request, 51)
        assert isinstance(answer, AlterUserScramCredentialsResponse)
        return {one.user: one.error_code for one in answer.results}

    def describe(self) -> dict[str, list[tuple[int, int]]]:
        request = DescribeUserScramCredentialsRequest(None)
        answer = self.ask(request, 50)
        assert isinstance(answer, DescribeUserScramCredentialsResponse)
        return {
            one.user: [(info.mechanism, info.iterations) for info in one.credential_infos] for one in answer.results
        }


def upsertion(user: str, mechanism: int = 1, iterations: int = 4096, salted_password: bytes = b"salted") -> Upsertion:
    return Upsertion(user, mechanism, iterations, b"salt", salted_password)


def test_good_users_are_altered_although_others_fail() -> None:
    """C30."""
    broker = Broker()
    assert broker.alter(
        upsertion("good", 2, 16384), upsertion("few", 1, 4095), upsertion("many", 2, 16385), upsertion("", 1),
        upsertion("unknown", 3), Deletion("absent", 1), upsertion("empty", salted_password=b""),
    ) == {"good": 0, "few": 93, "many": 93, "": 93, "unknown": 33, "absent": 91, "empty": -1}  # fmt: skip
    assert broker.describe() == {"good": [(2, 16384)]}
    assert broker.controller.end_offset == 1


@pytest.mark.parametrize(
    "twice",
    [
        (upsertion("a"), upsertion("a", 2)),
        (Deletion("a", 1), upsertion("a", 2)),
        (Deletion("a", 1), upsertion("a", 1, 1)),
    ],
)
def test_a_user_who_occurs_twice_in_a_request_is_refused_and_stays_as_before(
    twice: tuple[Upsertion | Deletion, ...],
) -> None:
    """C29."""
    broker = Broker()
    broker.alter(upsertion("a", 1, 5000))
    assert broker.alter(*twice, upsertion("b")) == {"a": 92, "b": 0}
    assert broker.describe() == {"a": [(1, 5000)], "b": [(1, 4096)]}


def test_neither_the_password_nor_its_salted_form_is_stored() -> None:
    """C27."""
    broker = Broker()
    salt, salted_password = salted(ScramUpsertion("alice", ScramMechanism.SCRAM_SHA_256, "alice-secret"))
    broker.alter(Upsertion("alice", 1, 4096, salt, salted_password))
    record = broker.controller.image.scram.by_user["alice"][1]
    assert record.salt == salt
    assert salted_password not in {record.stored_key, record.server_key}
    assert str(record.stored_key) not in repr(record)


def test_a_metadata_version_before_scram_refuses_every_user() -> None:
    """C28."""
    broker = Broker()
    broker.controller.commit([FeatureLevelRecord("metadata.version", 10)])
    assert broker.alter(upsertion("a"), Deletion("b", 1)) == {"a": 35, "b": 35}
    broker.controller.commit([FeatureLevelRecord("metadata.version", 11)])
    assert broker.alter(upsertion("a")) == {"a": 0}


def test_more_than_fit_in_a_batch_fail_all() -> None:
    broker = Broker()
    assert set(broker.alter(*(upsertion(f"user-{number}") for number in range(10_001))).values()) == {-1}
    assert broker.describe() == {}


@pytest.mark.parametrize("users", [None, (), (DescribeUserScramCredentialsRequest.UserName("a"),)])
def test_a_refused_scram_description_has_an_answer_and_no_results(
    users: tuple[DescribeUserScramCredentialsRequest.UserName, ...] | None,
) -> None:
    broker = Broker(may=False)
    request = DescribeUserScramCredentialsRequest(users)
    assert broker.ask(request, 50) == DescribeUserScramCredentialsResponse(error_code=31, error_message=None)
    altered = broker.ask(AlterUserScramCredentialsRequest((Deletion("a", 1),), (upsertion("b"),)), 51)
    assert isinstance(altered, AlterUserScramCredentialsResponse)
    assert {one.user: one.error_code for one in altered.results} == {"a": 31, "b": 31}
