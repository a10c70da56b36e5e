"""SQLite files of ours: opened privately, waiting for others, migrated, their troubles in our words (D3, D4).

    opening.py      connect: private, WAL, waiting, migrated
    migrations.py   a schema as an append-only list of steps
    problems.py     FileError, and SQLite's own error codes in our words

What is kept in such a file, and under which schema, says whoever opens it (`FileKind`).
"""
