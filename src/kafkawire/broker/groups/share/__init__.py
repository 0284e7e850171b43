"""Share groups, whose members share partitions (KIP-932): members, assignments, and where each group begins to read."""
