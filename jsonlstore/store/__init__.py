"""The durable thing: append-only session logs and the caches over them."""
