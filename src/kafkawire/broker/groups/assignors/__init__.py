"""The assignors of consumer groups and share groups: which member shall have what, as Apache Kafka computes it."""
