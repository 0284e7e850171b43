"""``kafkawire configs`` followed by an option: which grammar the words have (0051)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from kafkawire.cli.kafka_configs import kafka_tool, kip_248, kip_248_words
from kafkawire.cli.kafka_configs.kafka_words import OPTIONS
from kafkawire.cli.outcome import CommandError, ExitCode

_COMPAT: Final = "--compat"
_KAFKA: Final = "kafka"
_OLD_COMMAND: Final = "USE_OLD_COMMAND"
_OF_BOTH: Final = kip_248_words.OPTIONS & {f"--{option.name}" for option in OPTIONS}
_OF_KIP_248: Final = kip_248_words.OPTIONS_OF_ITS_OWN
_OF_KAFKA: Final = {f"--{option.name}" for option in OPTIONS} - _OF_BOTH


def main(words: Sequence[str]) -> int:
    """Run the command that words mean.

    ``--compat kafka`` means today's kafka-configs, with its errors too. Otherwise the options decide:
    ``--bootstrap-servers`` and ``--config.properties`` are of KIP-248, all others of today's kafka-configs, unless the
    two share them. With ``USE_OLD_COMMAND=true`` in the environment, as KIP-248 has it, none is of KIP-248.

    Returns:
        The exit code.

    Raises:
        CommandError: the words are refused, or a call fails.
    """
    given = [word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in words]  # as Java does
    if _takes_compat(given):
        return kafka_tool.run_as_kafka(given)
    if os.environ.get(_OLD_COMMAND) == "true":
        print("kafka.admin.ConfigCommand is deprecated and will be removed in version 2.0.", file=sys.stderr)
        return kafka_tool.run(given)
    return kip_248.run(given) if _is_of_kip_248(given) else kafka_tool.run(given)


def _takes_compat(words: list[str]) -> bool:
    """Whether ``--compat kafka`` is among the words, which then lack it.

    Raises:
        CommandError: another tool is named.
    """
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == _COMPAT:
            tool = value if equals else "".join(words[at + 1 : at + 2])
            if tool != _KAFKA:
                raise CommandError(f"--compat {tool}: no such tool; use --compat {_KAFKA}", ExitCode.USAGE)
            del words[at : at + (1 if equals else 2)]
            return True
    return False


def _is_of_kip_248(words: Sequence[str]) -> bool:
    names = [word.partition("=")[0] for word in words]
    of_kip_248, of_kafka = _first(names, _OF_KIP_248), _first(names, _OF_KAFKA)
    if of_kip_248 and of_kafka:
        raise CommandError(
            f"{of_kip_248} is an option of KIP-248's command and {of_kafka} of kafka-configs; use the options of one",
            ExitCode.USAGE,
        )
    return bool(of_kip_248)


def _first(names: Iterable[str], options: Iterable[str]) -> str:
    return next((name for name in names if name in options), "")
