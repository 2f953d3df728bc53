"""What every room stands on. It knows of no other room, and each of its modules is a door of its own:

`clock` (UTC), `config` (the settings), `errors` (one base, a leaf per situation), `files` (the disk, made durable),
`lazy` (doors that open on demand), `locks` (between threads and processes), `logs` (loggers), `model` (`SessionState`),
`paths` (where things lie), `regex` (RE2), `session_key` (what a key says), `values` (frozen values that load fast).
"""
