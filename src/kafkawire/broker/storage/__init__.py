"""What the broker keeps on disk: a locked data directory, and logs of record batches in Kafka's segment files."""
