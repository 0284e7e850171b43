"""The requirements of every method of `AdminClient`: APIs with their versions, and rights."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkawire.admin.client import AdminClient
from kafkawire.admin.needs import Requirements, requirements_of

REQUIREMENTS: Mapping[str, Requirements] = MappingProxyType(requirements_of(AdminClient))
"""Name of the method to its requirements."""
