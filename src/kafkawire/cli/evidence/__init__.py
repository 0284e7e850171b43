"""``kafkawire evidence``: whether results and logs are unchanged."""
