"""Where the changes of a cluster are kept: a log of metadata records, in memory or in Kafka's files."""
