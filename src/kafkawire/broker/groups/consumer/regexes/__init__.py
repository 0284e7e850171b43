"""Regular expressions of consumers in the syntax of RE2, matched in time that grows with the name only."""
