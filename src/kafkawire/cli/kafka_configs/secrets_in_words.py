"""Passwords that stand on a command line: hidden where words are repeated, and warned of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from kafkawire.cli.kafka_configs.added_configs import AddedConfigsError, read_added
from kafkawire.model.configs.broker_names import broker_definition
from kafkawire.model.configs.sensitive import HIDDEN

_ADD: Final = re.compile(r"--?add-config(?:=(?P<value>.+))?", re.DOTALL)
_SECRET_NAME: Final = re.compile(r"password|secret|credential|token|jaas|passwd|pwd", re.IGNORECASE)
_CREDENTIAL_NAME: Final = "SCRAM-"


def shown_words(words: Sequence[str]) -> str:
    """Words with blanks between them, as Apache's tool repeats them, but without secrets."""
    return " ".join(_shown(words))


def has_password(added: str) -> bool:
    """Whether a value of ``--add-config`` has a password of a user or of a broker."""
    try:
        return any(map(_is_secret, read_added(added)))
    except AddedConfigsError:
        return False


def _shown(words: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        option = _ADD.fullmatch(word)
        if is_value:
            yield _without_secrets(word)
        elif option is not None and option["value"] is not None:
            yield word[: option.start("value")] + _without_secrets(option["value"])
        else:
            yield word
        is_value = not is_value and option is not None and option["value"] is None


def _without_secrets(added: str) -> str:
    """The same text if it has no secret; otherwise its configs again, or nothing of it if it cannot be read."""
    try:
        configs = read_added(added)
    except AddedConfigsError:
        return HIDDEN if _SECRET_NAME.search(added) or _CREDENTIAL_NAME in added else added
    if not any(map(_is_secret, configs)):
        return added
    return ",".join(f"{key}={HIDDEN if _is_secret(key) else value}" for key, value in configs.items())


def _is_secret(key: str) -> bool:
    definition = broker_definition(key)
    if definition is not None:
        return definition.is_sensitive
    return key.startswith(_CREDENTIAL_NAME) or _SECRET_NAME.search(key) is not None
