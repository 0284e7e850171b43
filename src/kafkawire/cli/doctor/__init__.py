"""``kafkawire doctor``: each step from the name of a broker to its advertised address, with what to do."""
