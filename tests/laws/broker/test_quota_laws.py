"""Quotas: the broker and the admin client refuse the same, with the same codes (E6, E11)."""

from __future__ import annotations

from hypothesis import given, strategies as st
from tests.embedded.handlers import handled, handlers_by_request

from kafkawire.admin.operations.quotas import filter_components
from kafkawire.broker.authorization import Authorization
from kafkawire.broker.controller import Controller
from kafkawire.broker.handlers.quota_alterations import Alteration, QuotaAlterations
from kafkawire.broker.handlers.quotas import QuotaHandlers
from kafkawire.broker.image.client_quotas import ClientQuotasImage
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.requests import Call
from kafkawire.broker.sessions import ANONYMOUS, Session
from kafkawire.model.quotas.entities import (
    CLIENT_KEYS,
    IP_KEYS,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from kafkawire.model.quotas.validation import refusal_of_alteration, refusal_of_filter
from kafkawire.protocol import DescribeClientQuotasRequest, DescribeClientQuotasResponse

TYPES = st.sampled_from(("user", "client-id", "ip", "tenant", ""))
NAMES = st.sampled_from((None, "", "a", "10.0.0.1", "::1"))
VALUES = st.one_of(
    st.none(),
    st.sampled_from((0.0, -1.0, 0.5, 1.0, 1.0000001, 1.00001, 2.0**31 - 1, 2.0**31, 2.0**63, 2.0**64, 1e300)),
    st.floats(allow_nan=False, allow_infinity=False),
)
COMPONENTS = st.builds(ClientQuotaFilterComponent, TYPES, st.sampled_from((*QuotaMatch, QuotaMatch(3))), NAMES)
ADDRESSES = (None, "10.0.0.1", "::1")


def _is_known(entity: ClientQuotaEntity) -> bool:
    """Whether no name of a host has to be resolved."""
    return not entity.get("ip") or entity["ip"] in ADDRESSES


@given(
    st.dictionaries(TYPES, NAMES, max_size=3).map(ClientQuotaEntity).filter(_is_known),
    st.dictionaries(st.sampled_from((*CLIENT_KEYS, *IP_KEYS, "x")), VALUES, max_size=3),
)
def test_client_and_broker_refuse_the_same_quota_alterations(
    entity: ClientQuotaEntity, values: dict[str, float | None]
) -> None:
    """E11."""
    refused = refusal_of_alteration(ClientQuotaAlteration(entity, values))
    checked = QuotaAlterations(ClientQuotasImage(), ())
    checked.add(Alteration(entity, tuple(values.items())))
    assert (checked.refusals[entity] is None) == (refused is None)
    new = {record.key: record.value for record in checked.records}
    assert new == ({key: value for key, value in values.items() if value is not None} if refused is None else {})


@given(
    st.lists(
        st.builds(ClientQuotaFilterComponent, TYPES, st.sampled_from((*QuotaMatch, QuotaMatch(3))), NAMES), max_size=3
    ),
    st.booleans(),
)
def test_client_and_broker_refuse_the_same_quota_filters(
    components: list[ClientQuotaFilterComponent], strict: bool
) -> None:
    """E6."""
    wanted = ClientQuotaFilter(tuple(components), strict)
    refused = refusal_of_filter(wanted)
    handlers = handlers_by_request(QuotaHandlers, Controller(MetadataLog(), MetadataImage()), Authorization())
    call = Call(48, 1, "", Session(ANONYMOUS, "127.0.0.1", "PLAINTEXT"))
    request = DescribeClientQuotasRequest(filter_components(wanted), strict)
    answer = handled(handlers[DescribeClientQuotasRequest], request, call)
    assert isinstance(answer, DescribeClientQuotasResponse)
    assert answer.error_code == (0 if refused is None else refused.code)
