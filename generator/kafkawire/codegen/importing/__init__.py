"""The import: from release artifacts to the committed definitions.

`sources` says what is imported, `fetch` gets the artifacts, `extract` and `release` read definitions out of
them, `history` merges the releases and proves the merge, `write` replaces the folder in one go; `run` is the
whole in order.
"""
