"""Layouts of the messages beside this folder, as data."""
