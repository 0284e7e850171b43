"""Stands in for the package ``trivup``, with which the suite of confluent-kafka-python downloads and starts brokers."""
