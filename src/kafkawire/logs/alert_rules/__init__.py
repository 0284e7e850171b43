"""Rules that alert: built in, or from a file of a user; what they look at, and what they find."""
