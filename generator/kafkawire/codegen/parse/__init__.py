"""Definitions as they are written: JSON with positions, objects, the model of a message."""
