"""``kafkawire report``: pages that people would rather look at than read. One module for each command."""
