-- What is kept of the last attempt of a delivery to a web hook, so that its author understands a refusal. The request is not
-- kept: it is made again of the event.

ALTER TABLE delivery ADD COLUMN attempt TEXT;    -- JSON: sent (instant); where there was an answer, duration (ms), headers and body
