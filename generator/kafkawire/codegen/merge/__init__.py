"""Two definitions of one message made into one that keeps every version of both.

`merge_messages` builds the merged definition, `layout_difference` says in what two layouts of a version
differ. The import of releases and the overlay of proposals both rest on them.
"""
