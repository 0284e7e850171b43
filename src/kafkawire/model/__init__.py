"""Kafka's ACLs, quotas, configurations, groups, users and topics: values, matching, evaluation, validation.

Shared by the client, the broker and the readers of logs. Opens no socket.
"""
