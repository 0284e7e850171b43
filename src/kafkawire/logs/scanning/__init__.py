"""From the bytes of segments and snapshots to batches, and to what is wrong with them."""
