"""The assignors of consumer, share and streams groups: which member shall have what, as Apache Kafka computes it."""
