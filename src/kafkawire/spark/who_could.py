"""The SQL function ``who_could``: who could do an operation, when, and by which ACL, from rows of ``acl_history``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from pyspark.sql.types import ArrayType, BooleanType, Row, StringType, StructField, StructType, TimestampType
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult, PartitioningColumn, SelectedColumn

from kafkawire.logs.histories.acl import acl_of
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.acls.past_rights import PastAcl, PastRight, who_could
from kafkawire.model.times import time_of

_ORIGIN: Final = ("cluster", "log")
_ACL: Final = (
    "principal",
    "host",
    "resource_type_code",
    "resource_name",
    "pattern_type_code",
    "operation_code",
    "permission_code",
)
_INTERVAL: Final = ("valid_from", "valid_to")
_ERROR: Final = "_error"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_TEXT: Final = StringType()
_SHOWN_ACL: Final = StructType(
    [
        StructField(name, _TEXT)
        for name in (
            "principal",
            "permission",
            "operation",
            "resource_type",
            "resource_name",
            "pattern_type",
            "host",
        )
    ]
)
_RESULT: Final = StructType(
    [
        StructField("cluster", _TEXT),
        StructField("log", _TEXT),
        StructField("principal", _TEXT),
        StructField("host", _TEXT),
        StructField("valid_from", TimestampType()),
        StructField("valid_to", TimestampType()),
        StructField("allowed", BooleanType()),
        StructField("reason", _TEXT),
        StructField("acl", _SHOWN_ACL),
        StructField("denied_by", _SHOWN_ACL),
        StructField("excepted", ArrayType(_TEXT)),
        StructField("excepted_hosts", ArrayType(_TEXT)),
    ]
)

_ShownAcl: TypeAlias = tuple[str, ...] | None
_ResultRow: TypeAlias = tuple[
    str | None,
    str,
    str,
    str,
    datetime | None,
    datetime | None,
    bool,
    str,
    _ShownAcl,
    _ShownAcl,
    tuple[str, ...],
    tuple[str, ...],
]


@dataclass(frozen=True)
class _Question:
    operation: AclOperation
    resource_type: ResourceType
    resource_name: str
    since: datetime | None
    until: datetime | None
    host: str | None
    super_users: tuple[str, ...]
    allow_everyone_if_no_acl: bool


@dataclass
class Analysed(AnalyzeResult):
    """What a call means: the driver finds out, and each task gets it.

    Attributes:
        question: the question; None is never there, but fields of the base class have defaults.
    """

    question: _Question | None = field(default=None)


class WhoCould:
    """Answers the question for each log of a table by itself.

    Args:
        analysed: what `analyze` has found out.
    """

    def __init__(self, analysed: Analysed) -> None:
        self._question = analysed.question
        self._origin: tuple[str | None, str] = (None, "")
        self._history: list[PastAcl] = []

    @staticmethod
    def analyze(  # noqa: PLR0917 the arguments of the SQL function
        history: AnalyzeArgument,
        operation: AnalyzeArgument,
        resource_type: AnalyzeArgument,
        resource_name: AnalyzeArgument,
        since: AnalyzeArgument | None = None,
        until: AnalyzeArgument | None = None,
        host: AnalyzeArgument | None = None,
        super_users: AnalyzeArgument | None = None,
        allow_everyone_if_no_acl: AnalyzeArgument | None = None,
    ) -> Analysed:
        """The columns of the answer, and how the rows of the history reach the tasks.

        Raises:
            TypeError: an argument is no text, or no array of texts.
            ValueError: the table is not ``acl_history``, or an argument is no constant or malformed.
        """
        question = _Question(
            AclOperation.parse(_text("operation", operation)),
            ResourceType.parse(_text("resource_type", resource_type)),
            _text("resource_name", resource_name),
            _time("since", since),
            _time("until", until),
            None if host is None else _text("host", host),
            _texts("super_users", super_users),
            allow_everyone_if_no_acl is not None
            and bool(_constant("allow_everyone_if_no_acl", allow_everyone_if_no_acl)),
        )
        _answer(question, ())  # a question without an answer is an error before anything is read
        return Analysed(
            _RESULT,
            partitionBy=[PartitioningColumn(name) for name in _ORIGIN],
            select=_selected(history),
            question=question,
        )

    def eval(self, row: Row, *_question: object, **_others: object) -> None:
        """Take a row of the history.

        Raises:
            ValueError: the row says that a part of the log is lost, so that the answer would be incomplete.
        """
        error = row.asDict().get(_ERROR)
        if error is not None:
            raise ValueError(
                f"who_could: a part of the log {row['log']} is lost ({error}), so the answer may be wrong; "
                f"give rows with {_ERROR} IS NULL to get it all the same"
            )
        self._origin = row["cluster"], row["log"]
        if row["principal"] is not None:  # else nothing but the removal of the ACL is in the log
            acl = acl_of([row[name] for name in _ACL])
            self._history.append(PastAcl(acl, *(_from_microseconds(row[name]) for name in _INTERVAL)))

    def terminate(self) -> Iterator[_ResultRow]:
        """The answer for a log, after its last row."""
        question = self._question
        if question is None:
            return
        for right in _answer(question, self._history):
            yield (
                *self._origin,
                right.principal,
                right.host,
                right.valid_from,
                right.valid_to,
                right.allowed,
                right.reason.value,
                _shown(right.acl),
                _shown(right.denied_by),
                right.excepted,
                right.excepted_hosts,
            )


def _answer(question: _Question, history: Sequence[PastAcl]) -> list[PastRight]:
    return who_could(
        history,
        question.operation,
        question.resource_type,
        question.resource_name,
        since=question.since,
        until=question.until,
        host=question.host,
        super_users=question.super_users,
        allow_everyone_if_no_acl=question.allow_everyone_if_no_acl,
    )


def _selected(history: AnalyzeArgument) -> list[SelectedColumn]:
    """The columns that tasks get. Times are numbers, since Python has them without a zone otherwise."""
    columns = set(history.dataType.names) if history.isTable and isinstance(history.dataType, StructType) else set()
    lacking = [name for name in (*_ORIGIN, *_ACL, *_INTERVAL) if name not in columns]
    if lacking:
        raise ValueError(
            f"who_could: the table lacks {', '.join(lacking)}; give TABLE(...) with the rows and columns of acl_history"
        )
    plain = [SelectedColumn(name) for name in (*_ORIGIN, *_ACL, _ERROR) if name in columns]
    return [*plain, *(SelectedColumn(f"unix_micros({name})", name) for name in _INTERVAL)]


def _constant(name: str, argument: AnalyzeArgument) -> object:
    if not argument.isConstantExpression:
        raise ValueError(f"who_could: {name} is no constant; give a value, which holds for all rows")
    return argument.value


def _text(name: str, argument: AnalyzeArgument) -> str:
    value = _constant(name, argument)
    if not isinstance(value, str):
        raise TypeError(f"who_could: {name} is {value!r}; give a text")
    return value


def _texts(name: str, argument: AnalyzeArgument | None) -> tuple[str, ...]:
    value = () if argument is None else _constant(name, argument)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(f"who_could: {name} is {value!r}; give an array of texts, such as array('User:admin')")
    return tuple(map(str, value))


def _time(name: str, argument: AnalyzeArgument | None) -> datetime | None:
    """A time, or a text such as the options of ``kafka-log`` take."""
    value = None if argument is None else _constant(name, argument)
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.astimezone(UTC)  # PySpark has it in the zone of this process
    try:
        return time_of(str(value))
    except ValueError as error:
        raise ValueError(f"who_could: {name}: {value!r} is {error}") from None


def _from_microseconds(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def _shown(acl: AclBinding | None) -> _ShownAcl:
    if acl is None:
        return None
    return (
        acl.principal,
        str(acl.permission_type),
        str(acl.operation),
        str(acl.resource_type),
        acl.resource_name,
        str(acl.pattern_type),
        acl.host,
    )
