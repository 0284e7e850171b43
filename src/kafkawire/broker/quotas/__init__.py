"""What clients may use, and how long they wait when they use more."""
