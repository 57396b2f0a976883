"""PostgreSQL and Valkey out of Python wheels, kept in the project's own data folder."""
