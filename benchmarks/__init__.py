"""Benchmarks: kafkawire beside kio and kafka-python, in the same run on the same bytes.

``python -m benchmarks`` (or ``make bench``) runs all and writes ``docs/benchmarks/``; name one or more of ``codec``,
``records``, ``import``, ``generation`` and ``comparison`` to run only those.
"""

from __future__ import annotations
