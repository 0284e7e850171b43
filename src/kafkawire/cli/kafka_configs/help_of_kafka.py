"""The help of today's grammar, in our words."""

from __future__ import annotations

from typing import Final

HELP: Final = """\
Usage: kafkawire configs --bootstrap-server HOST:PORT,... (--describe | --alter) ENTITY [options]

Describe and alter configs, quotas and SCRAM credentials with the options of Apache Kafka's kafka-configs.

Entity, in one of two forms:
  --entity-type TYPE       topics, clients, users, brokers, broker-loggers, ips,
                           client-metrics or groups; users and clients together
  --entity-name NAME       its name; names belong to types in the order of both
  --entity-default         the default of users, clients, brokers or ips
  --topic NAME             short forms: also --client, --user, --broker,
                           --broker-logger, --ip, --client-metrics, --group
  --user-defaults          likewise: --client-defaults, --broker-defaults,
                           --ip-defaults

What to do:
  --describe               print the configs that are set
  --all                    with --describe: those that are not set too
  --alter                  change configs, with at least one of:
  --add-config CONFIGS     k1=v1,k2=[v1,v2],k3=v3
  --add-config-file FILE   a properties file; - is standard input
  --delete-config NAMES    k1,k2

Cluster:
  --bootstrap-server       brokers to ask first
  --bootstrap-controller   or controllers
  --command-config FILE    properties file of a Java client

Others:
  --compat kafka           print errors as Apache's tool does, with its exit codes
  --version                the release of Apache Kafka whose tool this is
  --force, --zookeeper     of older releases: they change nothing
  --help                   this text
"""
