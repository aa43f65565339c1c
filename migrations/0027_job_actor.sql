-- Whose request caused a job, as JSON with the names of that moment: the events of the job tell it. Null: a timer did.

ALTER TABLE job ADD COLUMN actor TEXT;
