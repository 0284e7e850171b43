"""``kafkawire tokens``: delegation tokens, whose secrets go to files only."""
