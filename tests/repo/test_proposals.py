"""The two proposals: every field as their pages give it, and every released version as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.merge.difference import layout_differences
from kafkawire.codegen.parse.load import load_definitions
from kafkawire.codegen.resolve.layouts import resolve, resolve_message
from kafkawire.codegen.specs_tree import load_specs
from kafkawire.layout import FieldLayout, StructLayout

GRAMMARS = {
    # KIP-888: the new fields of the page; the older ones end with the version before.
    ("DescribeAclsRequest", 4): (
        "Filters [ResourceTypeFilter int8, ResourceNameFilter string?, PatternTypeFilter int8=3, "
        "PrincipalFilter string?, HostFilter string?, Operation int8, PermissionType int8]"
    ),
    ("DescribeAclsResponse", 4): (
        "ThrottleTimeMs int32, FilterResults [ErrorCode int16, ErrorMessage string?, "
        "Resources [ResourceType int8, ResourceName string, PatternType int8=3, "
        "Acls [Principal string, Host string, Operation int8, PermissionType int8]]]"
    ),
    ("DescribeClientQuotasRequest", 2): (
        "Strict bool, Filters [Components [EntityType string, MatchType int8, Match string?]]"
    ),
    ("DescribeClientQuotasResponse", 2): (
        "ThrottleTimeMs int32, FilterResults [ErrorCode int16, ErrorMessage string?, "
        "Entries [Entity [EntityType string, EntityName string?], Values [Key string, Value float64]]?]"
    ),
    # KIP-248: the page's grammar.
    ("ListQuotasRequest", 1): "QuotaConfigResource (Type int8, Name string?=null)",
    ("ListQuotasResponse", 1): (
        "ThrottleTimeMs int32, ErrorCode int16, ErrorMessage string?=null, QuotaConfigEntityNames [string]"
    ),
    ("DescribeQuotasRequest", 1): (
        "Resources [QuotaConfigResource (Type int8, Name string?=null), "
        "ChildQuotaConfigResource (Type int8, Name string?=null), ConfigNames [string]?=null]"
    ),
    ("DescribeQuotasResponse", 1): (
        "ThrottleTimeMs int32, Resources [QuotaConfigResource (Type int8, Name string?=null), "
        "ChildQuotaConfigResource (Type int8, Name string?=null), "
        "Configs [ErrorCode int16, ErrorMessage string?=null, "
        "ConfigEntries [ConfigName string, ConfigValue string, ReadOnly bool, IsDefault bool, IsSensitive bool]]]"
    ),
    ("AlterQuotasRequest", 0): (
        "ValidateOnly bool, Resources [QuotaConfigResource (Type int8, Name string?=null), "
        "ChildQuotaConfigResource (Type int8, Name string?=null), Configs [ConfigName string, ConfigValue string]]"
    ),
    ("AlterQuotasResponse", 0): (
        "ThrottleTimeMs int32, Resources [QuotaConfigResource (Type int8, Name string?=null), "
        "ChildQuotaConfigResource (Type int8, Name string?=null), "
        "Configs [ErrorCode int16, ErrorMessage string?=null, ConfigName string]]"
    ),
}


def grammar(layout: StructLayout) -> str:
    """The fields of a layout in wire order: arrays in square, single structs in round brackets, ``?`` nullable."""
    return ", ".join(f"{field.name} {_type(field)}{_default(field)}" for field in layout.inline)


def _type(field: FieldLayout) -> str:
    element = grammar(field.struct) if field.struct else field.type
    text = f"[{element}]" if field.array else f"({element})" if field.struct else element
    return text + ("?" if field.nullable else "")


def _default(field: FieldLayout) -> str:
    if field.default is None:
        return "=null"
    return f"={field.default}" if isinstance(field.default, int) and field.default else ""


@pytest.fixture(scope="module")
def messages(root: Path) -> dict[str, MessageDefinition]:
    return {message.name: message for message in load_specs(root / "specs").messages}


@pytest.fixture(scope="module")
def released(root: Path) -> dict[str, MessageDefinition]:
    """The definitions without proposals."""
    return {message.name: message for message in load_definitions(root / "specs" / "clients").messages}


@pytest.mark.parametrize(("name", "version"), GRAMMARS)
def test_proposed_versions_have_the_fields_of_the_page(
    messages: dict[str, MessageDefinition], name: str, version: int
) -> None:
    layout = resolve_message(messages[name]).of_version(version)

    assert grammar(layout) == GRAMMARS[name, version]
    assert layout.flexible == name.startswith(("DescribeAcls", "DescribeClientQuotas"))
    assert layout.tagged == ()


@pytest.mark.parametrize(
    ("name", "key", "highest"),
    [("DescribeAcls", 29, 3), ("DescribeClientQuotas", 48, 1)],
)
def test_released_versions_keep_their_layouts_and_names(
    messages: dict[str, MessageDefinition], released: dict[str, MessageDefinition], name: str, key: int, highest: int
) -> None:
    for part in ("Request", "Response"):
        before, after = resolve(released[name + part]), resolve(messages[name + part])
        assert (after.definition.api_key, list(before.layouts.by_version)) == (key, list(range(highest + 1)))
        for version in range(highest + 1):
            assert layout_differences(before.layouts.of_version(version), after.layouts.of_version(version)) == ()
        assert before.structs.keys() <= after.structs.keys()
        kept = [f.name for f in after.top.fields if f.name in before.top.attributes]
        assert kept == [f.name for f in before.top.fields]


@pytest.mark.parametrize(("name", "key"), [("ListQuotas", 10000), ("DescribeQuotas", 10001), ("AlterQuotas", 10002)])
def test_quota_apis_have_keys_that_kafka_does_not_hand_out(
    messages: dict[str, MessageDefinition], name: str, key: int
) -> None:
    for part in ("Request", "Response"):
        assert messages[name + part].api_key == key
        assert messages[name + part].group == "proposals/kip-248"
    assert messages[f"{name}Request"].listeners == ("broker",)
