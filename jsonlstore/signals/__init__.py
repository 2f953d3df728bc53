"""From a transcript to meaning: pure functions and small accumulators, no I/O.

`distil.Distiller` is the door: it is fed the entries of one session in order and asked for its `Signals`. On the way
`evidence` (with `shell`, `outcome`, `todos`) reads what tools did, `conversation` keeps the talk as exchanges,
`choices` and `offers` read what the user decided and the assistant left open, `topics` and `projects` what it was
about. At the end `ending` says where it stopped and `conclusions` puts it together: what later evidence closes is
closed, and what is not supported is not said. Languages are data: one file each in `languages/`, read by `language`.
"""
