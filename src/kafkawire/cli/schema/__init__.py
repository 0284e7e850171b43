"""``kafkawire schema``: work with message definitions. One module for each command."""
