"""What changed between two sets of definitions, and whether peers of both still understand each other."""
