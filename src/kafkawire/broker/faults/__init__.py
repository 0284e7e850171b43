"""Faults that tests inject: what a broker does wrong, for which requests, and how seeds decide about it."""
