"""OpenClaw: the plugin and hook it loads (package data), and what puts them into its settings and takes them out."""
