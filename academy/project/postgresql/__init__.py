"""Django's PostgreSQL back end, with a cheaper look at each connection of the pool."""
