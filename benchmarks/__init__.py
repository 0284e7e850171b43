"""Benchmarks: kafkawire compared with its peers, in the same run on the same bytes.

``python -m benchmarks`` (or ``make bench``) runs all and writes ``docs/benchmarks/``; names as arguments choose some.
"""
