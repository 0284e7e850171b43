"""Classic groups: members that join, and a leader among them that assigns the partitions (KIP-62)."""
