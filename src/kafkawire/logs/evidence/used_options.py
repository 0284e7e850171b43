"""The options of a run for its manifest."""

from __future__ import annotations

from kafkawire.logs.options import READ_OPTIONS, ReadOptions


def not_default(options: ReadOptions) -> dict[str, str]:
    """The values of the read options that are not the default, by their flag, as texts.

    Definitions of your own are named by the digest of their texts.
    """
    given = [(each, getattr(options, each.name)) for each in READ_OPTIONS]
    shown = {each.flag: each.kind.show(value) for each, value in given if value != each.default}
    if options.registry.modules is not None:
        shown["--schema-dir"] = options.registry.modules.package
    return shown
