"""MCP: what is kept, as tools, resources and a prompt for any program that speaks the Model Context Protocol.

What it promises: the conversation is bound when the server starts and nothing a client sends widens it (decision 53);
an answer is at most 4 KB, quoted and dated as past; the first answer does not wait for code that only later ones need.

`protocol` speaks JSON-RPC over two streams, `tools` answers from the store within the scope, `words` puts sessions into
lines. The official SDK takes longer to load than some clients wait, so it is used by the tests only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.bridges.mcp.protocol import McpServer
    from jsonlstore.bridges.mcp.tools import MemoryTools


__all__ = ["McpServer", "MemoryTools"]

__getattr__ = lazy(__name__, {"protocol": "McpServer", "tools": "MemoryTools"})
