"""``kafkawire transactions``: which are open, which hang, and how they end."""
