"""Findings as text with the source line, as commands of GitHub Actions, and as SARIF."""
