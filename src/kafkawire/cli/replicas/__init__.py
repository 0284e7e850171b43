"""``kafkawire replicas``: replicas of logs from several brokers, compared and merged."""
