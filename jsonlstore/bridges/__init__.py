"""Bridges to other programs: what they keep is read, and what we know is handed to them in their own form.

`braindb` writes sessions to Cortex's SQLite file and reads them back. `openclaw` installs the plugin that lets OpenClaw
call our hooks. `mcp` answers programs that speak the Model Context Protocol, `exports` writes tables for other engines.
None changes anything of theirs beyond what its own docstring names.
"""
