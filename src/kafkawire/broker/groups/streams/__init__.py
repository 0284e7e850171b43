"""Streams groups (KIP-1071): which members process which tasks of the topology of a Kafka Streams application."""
