"""A report on Kafka's logs: one HTML page, made from the histories."""
