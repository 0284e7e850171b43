"""The pytest plug-in: brokers for tests, and what they have from their start."""
