"""The options of a run for its manifest."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.logs.option_records import Option
from kafkawire.logs.options import READ_OPTIONS, ReadOptions


def not_default(options: ReadOptions) -> dict[str, str]:
    """The values of the read options that are not the default, by their flag, as texts.

    Definitions of your own are named by the digest of their texts.
    """
    shown = others_not_default(options, READ_OPTIONS)
    if options.registry.modules is not None:
        shown["--schema-dir"] = options.registry.modules.package
    return shown


def others_not_default(options: object, records: Iterable[Option]) -> dict[str, str]:
    """As ``not_default``, of an instance of another class with options.

    Args:
        options: the instance.
        records: from ``options_of`` its class.
    """
    given = [(each, getattr(options, each.name)) for each in records]
    return {each.flag: each.kind.show(value) for each, value in given if value != each.default}
