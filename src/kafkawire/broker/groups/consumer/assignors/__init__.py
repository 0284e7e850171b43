"""The assignors of consumer groups: which member shall have which partitions, as Apache Kafka computes it."""
