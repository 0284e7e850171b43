"""Share partitions (KIP-932): partitions whose records are handed out one by one to the members of a share group."""
