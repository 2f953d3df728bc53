"""What other runtimes wrote. Read only: nothing in here ever writes."""
