"""``kafkawire demo``: from the definitions of messages to a broker that was killed and lost nothing, and its log."""
