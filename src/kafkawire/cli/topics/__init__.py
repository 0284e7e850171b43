"""``kafkawire topics``."""
