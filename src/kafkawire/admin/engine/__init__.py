"""The engine of all operations: it routes requests, retries them, and collects the outcome of each item."""
