"""Configurations of topics, brokers, groups and client metrics: what holds, from where, and how it changes."""
