"""Documents that declare a cluster's state, in YAML: `read_documents` reads them, `write_documents` writes them.

Each kind of item has a module that reads it from nodes (`nodes`, with positions) into a `Reading` (`fields`), where
problems are collected. `declared` has the outcome: a `Declared`.
"""
