"""Apache Kafka for the tests: its generated classes as an oracle, its broker, its tools; all from Maven's artifacts."""
