"""``kafkawire plan``, ``apply``, ``export`` and ``diff``: a cluster and its declared state."""
