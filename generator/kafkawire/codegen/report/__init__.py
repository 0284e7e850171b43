"""Findings in the forms that other programs annotate code with: GitHub's workflow commands and SARIF."""
