-- What is remembered of the machine's clock, so that a jump is noticed and nothing is removed because of it.

ALTER TABLE deployment ADD COLUMN clock_seen INTEGER;  -- its instant when a server last ran, written once a minute
ALTER TABLE deployment ADD COLUMN clock_jump INTEGER;  -- by how many microseconds it jumped; null: what is old is removed
ALTER TABLE deployment ADD COLUMN clock_wait INTEGER;  -- microseconds that the server has yet to run before it is again
