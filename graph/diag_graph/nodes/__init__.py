"""The eight nodes, a file each: a narrow view of the state in, an update out."""
