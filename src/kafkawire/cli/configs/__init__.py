"""``kafkawire configs``."""
