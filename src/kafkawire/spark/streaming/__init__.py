"""Logs as streams: what was read is remembered as an offset and a place in a file, log by log."""

from __future__ import annotations
