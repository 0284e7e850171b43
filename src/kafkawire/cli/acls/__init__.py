"""``kafkawire acls``."""
