"""The internal topics that the states of coordinators are in: what groups and transactions have in common."""
