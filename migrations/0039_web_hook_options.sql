-- Web hooks choose the format and the signature of their requests, and may be limited to customers and projects.
ALTER TABLE hook ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';   -- standard, slack
ALTER TABLE hook ADD COLUMN signature TEXT NOT NULL DEFAULT 'hmac';    -- hmac, ed25519
ALTER TABLE hook ADD COLUMN public_key TEXT;                           -- ed25519: what receivers verify with
ALTER TABLE hook ADD COLUMN customers TEXT NOT NULL DEFAULT '[]';      -- JSON list of uuids, sorted
ALTER TABLE hook ADD COLUMN projects TEXT NOT NULL DEFAULT '[]';       -- JSON list of uuids, sorted
-- Whether the hook receives only what names one of them. Stays set when the last one is deleted.
ALTER TABLE hook ADD COLUMN is_limited INTEGER NOT NULL DEFAULT 0;

CREATE INDEX hook_limited ON hook (id) WHERE is_limited;

-- Recovered deliveries are sent in the order of their events, alternating with the others.
ALTER TABLE delivery ADD COLUMN recovered INTEGER NOT NULL DEFAULT 0;

DROP INDEX delivery_pending;
CREATE INDEX delivery_pending ON delivery (hook_id, ready, recovered, id) WHERE status = 'pending';
CREATE INDEX delivery_recovered ON delivery (hook_id, ready, event_id) WHERE status = 'pending' AND recovered = 1;
CREATE INDEX delivery_event ON delivery (event_id, hook_id) WHERE event_id IS NOT NULL;
