"""The states of a connection and what leads from one to another, as a table.

Nothing else decides which state follows; :class:`~kafkawire.admin.connection.machine.Connection` only says what
happened. ``docs/how-to/log-in.md`` shows the table.
"""

from __future__ import annotations

from enum import Enum, auto
from types import MappingProxyType


class State(Enum):
    """Where a connection stands."""

    NEW = auto()
    """Nothing was sent."""
    ASKING_FOR_SASL = auto()
    """ApiVersions 0 is out, to learn which versions of the SASL requests there are."""
    AWAITING_CREDENTIALS = auto()
    """Somebody must say as whom to log in."""
    HANDSHAKING = auto()
    """SaslHandshake is out."""
    AUTHENTICATING = auto()
    """A token is out."""
    NEGOTIATING = auto()
    """ApiVersions at the highest version known here is out."""
    NEGOTIATING_LOWER = auto()
    """The same at a version that the broker has."""
    READY = auto()
    """Requests go out at once."""
    RENEWING = auto()
    """They still do, while credentials for the next login are awaited."""
    DRAINING = auto()
    """The answers to what is in flight are awaited; new requests wait."""
    REHANDSHAKING = auto()
    """SaslHandshake is out again; new requests wait."""
    REAUTHENTICATING = auto()
    """A token is out again; new requests wait."""
    CLOSED = auto()
    """Nothing goes in or out."""


class Trigger(Enum):
    """What can happen to a connection."""

    OPENED = auto()
    OPENED_WITH_SASL = auto()
    SASL_VERSIONS_LISTED = auto()
    CREDENTIALS_GIVEN = auto()
    MECHANISM_ACCEPTED = auto()
    TOKEN_EXCHANGED = auto()
    AUTHENTICATED = auto()
    VERSION_REFUSED = auto()
    VERSIONS_LISTED = auto()
    SESSION_AGED = auto()
    DRAINED = auto()
    ENDED = auto()


_S, _T = State, Trigger

TRANSITIONS = MappingProxyType({
    _S.NEW: {_T.OPENED: _S.NEGOTIATING, _T.OPENED_WITH_SASL: _S.ASKING_FOR_SASL, _T.ENDED: _S.CLOSED},
    _S.ASKING_FOR_SASL: {_T.SASL_VERSIONS_LISTED: _S.AWAITING_CREDENTIALS, _T.ENDED: _S.CLOSED},
    _S.AWAITING_CREDENTIALS: {_T.CREDENTIALS_GIVEN: _S.HANDSHAKING, _T.ENDED: _S.CLOSED},
    _S.HANDSHAKING: {_T.MECHANISM_ACCEPTED: _S.AUTHENTICATING, _T.ENDED: _S.CLOSED},
    _S.AUTHENTICATING: {
        _T.TOKEN_EXCHANGED: _S.AUTHENTICATING, _T.AUTHENTICATED: _S.NEGOTIATING, _T.ENDED: _S.CLOSED,
    },
    _S.NEGOTIATING: {
        _T.VERSION_REFUSED: _S.NEGOTIATING_LOWER, _T.VERSIONS_LISTED: _S.READY, _T.ENDED: _S.CLOSED,
    },
    _S.NEGOTIATING_LOWER: {_T.VERSIONS_LISTED: _S.READY, _T.ENDED: _S.CLOSED},
    _S.READY: {_T.SESSION_AGED: _S.RENEWING, _T.ENDED: _S.CLOSED},
    _S.RENEWING: {_T.CREDENTIALS_GIVEN: _S.DRAINING, _T.ENDED: _S.CLOSED},
    _S.DRAINING: {_T.DRAINED: _S.REHANDSHAKING, _T.ENDED: _S.CLOSED},
    _S.REHANDSHAKING: {_T.MECHANISM_ACCEPTED: _S.REAUTHENTICATING, _T.ENDED: _S.CLOSED},
    _S.REAUTHENTICATING: {
        _T.TOKEN_EXCHANGED: _S.REAUTHENTICATING, _T.AUTHENTICATED: _S.READY, _T.ENDED: _S.CLOSED,
    },
    _S.CLOSED: {},
})  # fmt: skip
"""State to what can happen in it to the state that follows."""

SENDING = frozenset({State.READY, State.RENEWING})
"""States in which a request goes out at once."""

HOLDING = frozenset({State.DRAINING, State.REHANDSHAKING, State.REAUTHENTICATING})
"""States in which a request waits for the login to be renewed."""

LOGGING_IN = frozenset({State.HANDSHAKING, State.AUTHENTICATING, State.REHANDSHAKING, State.REAUTHENTICATING})
"""States in which a disconnect may be a broker's way to refuse credentials."""


class ImpossibleTransitionError(RuntimeError):
    """Something happened in a state that does not know it; a mistake of this package or its caller."""


def after(state: State, trigger: Trigger) -> State:
    """The state that follows.

    Raises:
        ImpossibleTransitionError: if the table has none.
    """
    following = TRANSITIONS[state].get(trigger)
    if following is None:
        raise ImpossibleTransitionError(f"{trigger.name} cannot happen to a connection that is {state.name}")
    return following
