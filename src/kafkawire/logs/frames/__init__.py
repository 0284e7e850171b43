"""From the bytes of segments and snapshots to batches, and the flaws between them."""
