"""What a broker is configured by: Kafka's property names, with its types, defaults and checks."""
