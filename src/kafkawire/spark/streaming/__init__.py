"""Logs as streams: the position of each log is an offset, and a place in a file."""

from __future__ import annotations
