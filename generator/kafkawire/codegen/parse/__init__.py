"""Reads definition files: JSON with positions, then its objects, then the definition of a message."""
