"""From the records of a log to histories: what held from when to when.

``metadata_fold`` replays metadata logs with their snapshots, ``coordinator_fold`` the logs of group coordinators. A
history is a ``MetadataHistory`` or a ``CoordinatorHistory``; the package ``histories`` has one module for each.
"""
