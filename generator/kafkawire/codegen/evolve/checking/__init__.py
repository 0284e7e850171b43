"""``schema check`` as a whole: rules or Kafka's own checker, proof by bytes, what was accepted, and how it is shown."""
