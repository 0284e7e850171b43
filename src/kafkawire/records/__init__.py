"""The messages in Kafka's own logs, blobs and files: one module for each kind of framing.

``kafkawire.wire.batches`` reads keys and values of records as bytes; the functions here decode and encode these.
"""

from __future__ import annotations
