"""Python names for Kafka's (name-snake-upstream)."""

from __future__ import annotations

import builtins
import keyword

import pytest

from kafkawire.codegen.naming import (
    RESERVED_ATTRIBUTES,
    RESERVED_CLASSES,
    RESERVED_ERRORS,
    RESERVED_MODULES,
    attribute_name,
    attribute_names,
    class_name,
    error_class_names,
    module_name,
    struct_class_name,
)
from kafkawire.layout import snake_case
from kafkawire.wire import Message


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FooBarBaz", "foo_bar_baz"),
        ("FORTRAN", "fortran"),
        ("KRaftVersion", "kraft_version"),
        ("isKRaftController", "is_kraft_controller"),
        ("V3AndBelowTopics", "v3_and_below_topics"),
        ("ResultsByTopicV3AndBelow", "results_by_topic_v3_and_below"),
        ("V0Host", "v0_host"),
        ("timeoutMs", "timeout_ms"),
        ("Id", "id"),
        ("A", "a"),
        ("AB1C", "ab1_c"),
    ],
)
def test_name_snake_upstream(name: str, expected: str) -> None:
    assert snake_case(name) == expected


@pytest.mark.parametrize("name", ["Class", "def", "Import", "Is", "None1"])
def test_name_python_hard_keyword(name: str) -> None:
    assert not keyword.iskeyword(attribute_name(name))
    assert attribute_name(name).rstrip("_") == name.lower()


@pytest.mark.parametrize("name", ["Match", "Type", "Id", "Index", "Count", "Values", "Name", "Value", "Version", "Key"])
def test_name_python_soft_stays(name: str) -> None:
    assert attribute_name(name) == name.lower()


@pytest.mark.parametrize("name", ["Encode", "Decode", "DecodeFrom", "Layouts", "UnknownTaggedFields", "Bytes", "Int"])
def test_fields_do_not_hide_what_every_class_has(name: str) -> None:
    assert attribute_name(name) == f"{snake_case(name)}_"


def test_reserved_attributes_are_all_public_names_of_messages() -> None:
    public = {name for name in vars(Message) if not name.startswith("_") and name.islower()}
    assert public <= RESERVED_ATTRIBUTES


def test_gap_case_collision() -> None:
    assert attribute_names(["At", "at", "AT", "Class", "class"]) == {
        "At": "at", "at": "at_", "AT": "at__", "Class": "class_", "class": "class__",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(RESERVED_CLASSES))
def test_classes_do_not_hide_what_their_module_uses(name: str) -> None:
    assert class_name(name) == f"{name}_"
    assert struct_class_name(name, "Foo") == f"{name}_"


@pytest.mark.parametrize("name", ["True", "False", "None"])
def test_classes_are_no_keywords(name: str) -> None:
    assert class_name(name) == f"{name}_"


def test_other_classes_keep_their_names() -> None:
    assert [class_name(name) for name in ("Foo", "Cursor", "TimeoutError")] == ["Foo", "Cursor", "TimeoutError"]
    assert hasattr(builtins, "TimeoutError")


@pytest.mark.parametrize(
    ("struct", "message", "expected"),
    [("Foo", "Foo", "Foo_"), ("Foo", "Bar", "Foo"), ("Sequence", "Sequence", "Sequence__"), ("Uuid", "Foo", "Uuid_")],
)
def test_a_struct_does_not_hide_its_message(struct: str, message: str, expected: str) -> None:
    assert struct_class_name(struct, message) == expected


@pytest.mark.parametrize(
    "name", ["Strategies", "ApiTable", "ErrorCodes", "Errors", "RecordRegistries", "Class", "Import"]
)
def test_modules_do_not_hide_those_of_the_package_and_can_be_imported(name: str) -> None:
    assert module_name(name) == f"{snake_case(name)}_"
    assert len(RESERVED_MODULES) == 5


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        ("TOPIC_ALREADY_EXISTS", "TopicAlreadyExistsError"),
        ("UNKNOWN_SERVER_ERROR", "UnknownServerError"),
        ("INVALID_TOPIC_EXCEPTION", "InvalidTopicError"),
        ("SASL_AUTHENTICATION_FAILED", "SaslAuthenticationFailedError"),
        ("V2", "V2Error"),
        ("_2_MANY", "Code2ManyError"),
        ("ERROR", "Error"),
        ("API", "ApiError_"),
    ],
)
def test_an_error_code_names_its_exception(constant: str, expected: str) -> None:
    assert error_class_names([constant]) == [expected]
    assert expected.isidentifier()
    assert expected not in RESERVED_ERRORS


def test_exceptions_have_different_names() -> None:
    assert error_class_names(["BROKEN", "BROKEN_ERROR", "Broken"]) == ["BrokenError", "BrokenError_", "BrokenError__"]
