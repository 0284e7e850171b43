"""Rules that find risky changes in the metadata log, as data: one definition for the command, tables and streams."""
