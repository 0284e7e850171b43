"""Findings in the forms that people and programs read: text with the source line, GitHub's commands, SARIF."""
