"""A cluster's state as documents declare it: read, compared with what a cluster has, and brought about.

Every name is imported when it is first used. These names are the public ones; all others may change.
"""

from __future__ import annotations

from kafkawire.lazy_names import attach

__all__, __getattr__, __dir__ = attach(__name__, __file__)
