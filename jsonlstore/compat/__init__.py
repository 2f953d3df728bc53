"""Cortex's names and shapes, for code written for its documents."""

from jsonlstore.compat.session_manager import SessionManager

__all__ = ["SessionManager"]
