"""A cluster's state as documents declare it: read, compared with what a cluster has, and brought about."""
