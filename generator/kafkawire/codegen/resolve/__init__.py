"""The layout of each version of a message, and the names of its classes."""
