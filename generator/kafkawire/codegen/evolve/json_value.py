"""What the JSON documents of comparisons are made of."""

from __future__ import annotations

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]
