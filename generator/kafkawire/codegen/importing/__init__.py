"""The import: from the jars of releases to the committed definitions.

`sources` reads what to import, `fetch` fetches the jars, `extract` and `release` read their definitions, `history`
merges the releases, `proof` verifies the merge, `write` replaces the folder in one step; `run` calls them in order.
"""
