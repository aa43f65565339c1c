-- The roles that give rights and sight: those that have not ended. Queries read these views, changes go to the tables.

CREATE VIEW active_customer_role AS SELECT * FROM customer_role WHERE ended IS NULL;

CREATE VIEW active_project_role AS SELECT * FROM project_role WHERE ended IS NULL;
