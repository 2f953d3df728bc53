"""The base of all rooms. It imports no other room, and other rooms import its modules directly:

`clock` (UTC times), `config` (the settings), `errors` (one base class, one leaf per situation), `files` (durable
writes), `hashes` (without OpenSSL), `lazy` (package exports that load on demand), `locks` (between threads and
processes), `logs` (loggers),
`model` (`SessionState`), `paths` (the layout on disk), `process` (processes and their memory), `regex` (RE2),
`session_key` (what a session key says), `values` (frozen values that load fast).
"""
