"""Regular expressions of clients, in the syntax of RE2, matched in a time that is bounded."""
