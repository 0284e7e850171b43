"""The batches in segments and snapshots, and the flaws: bytes that are not valid batches."""
