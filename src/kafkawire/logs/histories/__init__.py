"""The histories: one module for each, with a ``HISTORY`` that declares the table.

A module that is added here is found by itself: ``table_names``, the command, Spark and the Python API have the table.
"""

from __future__ import annotations
