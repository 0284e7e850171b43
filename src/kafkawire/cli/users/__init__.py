"""``kafkawire users``."""
