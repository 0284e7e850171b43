"""Configurations: resources and entries, Kafka's own definitions, their values, and which are sensitive."""
