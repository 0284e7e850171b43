"""What Kafka's own logs, blobs and files hold, as messages: one module for each way of framing.

``kafkawire.wire.batches.batch`` gives keys and values of records as bytes; the functions here turn them into messages
and back.
"""

from __future__ import annotations
