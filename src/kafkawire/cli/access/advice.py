"""What the library advises to programs, in words of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IN_WORDS_OF_THE_COMMAND: Final[Mapping[str, str]] = {
    # Of properties.
    "pass credentials=, a function that returns OAuthBearerCredentials, beside the properties": (
        'make a context with login: mechanism = "OAUTHBEARER", and a reference to the token'
    ),
    "or OAUTHBEARER with credentials=": "or a context with a login for OAUTHBEARER",
    "or pass credentials=": "or make a context with a login",
    "pass credentials=, a function that returns credentials": "make a context with a login",
    "or pass bootstrap_servers=": "or give --bootstrap-server HOST:PORT",
    "pass tls=, an ssl.SSLContext": "use the AdminClient of Python with tls=",
    # Of connections.
    "give tls=Tls(...)": "set the property security.protocol to SSL or SASL_SSL",
    "or leave out tls": "or set the property security.protocol to PLAINTEXT or SASL_PLAINTEXT",
    "name the authority that signed it: Tls(ca=...)": (
        "name the authority that signed it: ssl.truststore.type=PEM and ssl.truststore.location"
    ),
    "or give Tls(verify_hostname=False)": "or set the property ssl.endpoint.identification.algorithm to nothing",
    "give Tls(certificate=..., key=...)": "set ssl.keystore.type=PEM and ssl.keystore.location",
    "give credentials=...": "set security.protocol, sasl.mechanism and a login, in properties or in a context",
    "give controllers as bootstrap_controllers": "name it by --bootstrap-controller",
}
"""Advice of the library, to the same for a person with properties and contexts."""


def in_words_of_the_command(message: str) -> str:
    """A message of the library for a person at the command line."""
    for words, own in IN_WORDS_OF_THE_COMMAND.items():
        message = message.replace(words, own)
    return message
