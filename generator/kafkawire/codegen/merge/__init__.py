"""Merges two definitions of a message into one that has every version of both.

`merge_messages` builds the merged definition, `layout_differences` compares two layouts of a version. The import of
releases and proposals use both.
"""
