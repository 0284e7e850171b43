"""What users plug into the broker, by the interfaces of Kafka."""
