"""Rows that operators' commands print: one form option, one table, one schema for each command."""
