"""Histories: rows with the time during which they were valid, made from the records of a log.

``metadata_fold`` replays metadata logs with their snapshots. ``coordinator_log`` reads the logs of group coordinators,
and a ``CoordinatorFold`` makes rows of their records: of all together, or of each by itself (``RecordFold``). A history
is a ``MetadataHistory`` or a ``CoordinatorHistory``; the package ``histories`` has one module for each.
"""
