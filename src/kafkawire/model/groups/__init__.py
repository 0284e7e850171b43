"""Groups of every protocol: descriptions, members, assignments and offsets."""
