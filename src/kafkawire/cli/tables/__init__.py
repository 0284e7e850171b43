"""``kafkawire tables``: tables of Kafka's own logs as CSV, JSON lines, Parquet, or on the terminal."""
