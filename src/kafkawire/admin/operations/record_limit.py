"""How much one request may change."""

from __future__ import annotations

MAXIMUM_RECORDS = 10_000
"""A request that makes more metadata records than this is refused whole (admin-record-limit)."""
