-- The database and its two roles. Run once, as a superuser of the server:
--
--   psql --set owner_password=… --set app_password=… --file deploy/roles.sql "postgresql://superuser@server/postgres"
--
-- academy_owner owns the tables and runs migrations. academy_app is what web, worker and beat connect as: it reads and
-- writes rows, and can neither alter nor truncate a table, nor drop a trigger that keeps published rows as they are.

CREATE ROLE academy_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE academy_app LOGIN PASSWORD :'app_password';
CREATE DATABASE academy OWNER academy_owner;

\connect academy

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT ALL ON SCHEMA public TO academy_owner;
GRANT USAGE ON SCHEMA public TO academy_app;
-- A run is loaded through a temporary table.
GRANT TEMPORARY ON DATABASE academy TO academy_app;

ALTER DEFAULT PRIVILEGES FOR ROLE academy_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO academy_app;
ALTER DEFAULT PRIVILEGES FOR ROLE academy_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO academy_app;
