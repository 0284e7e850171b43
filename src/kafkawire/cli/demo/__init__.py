"""``kafkawire demo``: generates the protocol, and runs a broker that is killed, restarted, and has lost nothing."""
