"""``kafkawire reassign``: replicas move to other brokers, with a limit of bytes, watched, and cancelled."""
