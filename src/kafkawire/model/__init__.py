"""What Kafka means by ACLs, quotas, configurations, groups, users and topics: values, matching, evaluation, validation.

The client, the broker and the readers of logs share it. It opens no socket and no file.
"""
