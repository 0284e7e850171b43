"""The ``kafkawire`` command."""
