"""``kafkawire demo``: the main parts of kafkawire in chapters, each run before the reader's eyes."""
