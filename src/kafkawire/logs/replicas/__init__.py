"""Replicas of one log from several brokers: compared, and merged to one log with the sound batches of all."""
