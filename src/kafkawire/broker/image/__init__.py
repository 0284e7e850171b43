"""What a metadata log amounts to: its records applied one after the other, each kind to its own part."""
