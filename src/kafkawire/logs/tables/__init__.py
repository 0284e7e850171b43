"""Tables with a row for each record or batch, and the columns that they are made of."""
