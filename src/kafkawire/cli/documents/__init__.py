"""Documents that declare a cluster's state, in commands."""
