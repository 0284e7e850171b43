"""Comparisons as text, JSON and Markdown: what changed (``schema diff``), and the findings of ``schema check``."""
