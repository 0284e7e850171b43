"""``kafkawire cluster``: nodes, versions of APIs, the metadata quorum, features, log directories."""
