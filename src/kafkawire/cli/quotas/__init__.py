"""``kafkawire quotas``."""
