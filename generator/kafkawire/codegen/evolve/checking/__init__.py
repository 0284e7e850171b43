"""``schema check`` as a whole: the findings of a profile, the comparison of bytes, and accepted findings."""
