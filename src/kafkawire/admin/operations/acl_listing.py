"""Answers to DescribeAcls whose resources are bindings: 55,000 ACLs without an object for each part of the answer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Self, cast

from kafkawire.model.acls.bindings import (
    OPERATION_OF,
    PATTERN_TYPE_OF,
    PERMISSION_TYPE_OF,
    RESOURCE_TYPE_OF,
    AclBinding,
)
from kafkawire.protocol import DescribeAclsResponse
from kafkawire.wire import Message, Struct
from kafkawire.wire.engine import native_engine, natively_if_possible
from kafkawire.wire.message import Octets
from kafkawire.wire.programs import StructProgram, program_of
from kafkawire.wire.row_programs import Rows, with_rows
from kafkawire.wire.structs import Tags

if TYPE_CHECKING:
    from types import ModuleType

    from kafkawire._native import Codec

_NAME = attrgetter("resource_name")


class AclListing(Message, frozen=True, gc=False):
    """A DescribeAclsResponse whose resources are the ACLs themselves, sorted: brokers promise no order (A21).

    It is read only. Equal principals and hosts are mostly one object, so that each further ACL costs about a
    hundred bytes.

    Attributes:
        throttle_time_ms, error_code, error_message: as in the response.
        resources: the ACLs; versions 0-3.
        filter_results: one entry for each filter of the request; version 4.
    """

    NAME = DescribeAclsResponse.NAME
    API_KEY = DescribeAclsResponse.API_KEY
    VERSIONS = DescribeAclsResponse.VERSIONS
    FLEXIBLE_VERSIONS = DescribeAclsResponse.FLEXIBLE_VERSIONS
    UNSTABLE_VERSIONS = DescribeAclsResponse.UNSTABLE_VERSIONS
    HEADER_NAME = DescribeAclsResponse.HEADER_NAME
    HEADER_VERSIONS = DescribeAclsResponse.HEADER_VERSIONS

    DescribeAclsResource = DescribeAclsResponse.DescribeAclsResource
    AclDescription = DescribeAclsResponse.AclDescription

    class DescribeAclsFilterResult(Struct, frozen=True, gc=False):
        """The answer to one filter; its resources are ACLs."""

        error_code: int = 0
        error_message: str | None = ""
        resources: tuple[AclBinding, ...] = ()
        unknown_tagged_fields: Tags = ()

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    resources: tuple[AclBinding, ...] = ()
    filter_results: tuple[DescribeAclsFilterResult, ...] = ()
    unknown_tagged_fields: Tags = ()

    @classmethod
    def decode_from(cls, buffer: Octets, offset: int, version: int) -> tuple[Self, int]:
        """See ``Message.decode_from``."""
        octets = bytes(buffer)  # the same object, if it is one already
        return natively_if_possible(
            lambda: cls._of(*DescribeAclsResponse.decode_from(octets, offset, version)),
            _native_codec(native_engine(), version) if version in cls.VERSIONS else None,
            lambda codec: cast("tuple[Self, int]", codec.read(octets, offset)),
        )

    @classmethod
    def _of(cls, response: DescribeAclsResponse, end: int) -> tuple[Self, int]:
        results = tuple(
            cls.DescribeAclsFilterResult(
                each.error_code, each.error_message, acls_of(each.resources), each.unknown_tagged_fields
            )
            for each in response.filter_results
        )
        listing = cls(
            response.throttle_time_ms,
            response.error_code,
            response.error_message,
            acls_of(response.resources),
            results,
            response.unknown_tagged_fields,
        )
        return listing, end


def acls_of(resources: Iterable[DescribeAclsResponse.DescribeAclsResource]) -> tuple[AclBinding, ...]:
    """The ACLs of the resources of an answer, sorted."""
    shared: dict[str, str] = {}
    share = shared.setdefault
    acls = [
        AclBinding(
            RESOURCE_TYPE_OF[resource.resource_type],
            resource.resource_name,
            share(acl.principal, acl.principal),
            OPERATION_OF[acl.operation],
            PERMISSION_TYPE_OF[acl.permission_type],
            share(acl.host, acl.host),
            PATTERN_TYPE_OF[resource.pattern_type],
        )
        for resource in resources
        for acl in resource.acls
    ]
    # Texts are compared faster than ACLs, of which then most or all are in order.
    acls.sort(key=_NAME)
    acls.sort()
    return tuple(acls)


_ROWS = Rows(
    AclBinding,
    fields={name: name for name in AclBinding.__struct_fields__},
    members={
        "resource_type": RESOURCE_TYPE_OF,
        "pattern_type": PATTERN_TYPE_OF,
        "operation": OPERATION_OF,
        "permission_type": PERMISSION_TYPE_OF,
    },
)


@cache
def _native_codec(engine: ModuleType | None, version: int) -> Codec | None:
    """Reads listings in the native engine, if that is in use and knows the form of the classes."""
    if engine is None:
        return None
    try:
        return cast("Codec", engine.Codec(listing_program(version)))
    except ValueError:
        return None


def listing_program(version: int) -> StructProgram:
    """The program of the native engine that reads a listing at a version."""
    program = program_of(AclListing, DescribeAclsResponse.layouts().of_version(version))
    return with_rows(program, {DescribeAclsResponse.DescribeAclsResource: _ROWS})
