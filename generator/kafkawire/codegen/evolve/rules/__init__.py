"""The rules of evolution: one module for each family, a catalogue of them all, and the walk that applies them."""
