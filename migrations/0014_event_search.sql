-- The index of words is made anew: the program enters events some time after they were recorded, all those of before at its
-- next start. A word is followed by the number of its volume of events, as in 'zircon|7' (src/events/search.ts); '|7' stands
-- between texts, so that no phrase is found across two of them.

DROP TABLE event_words;
CREATE VIRTUAL TABLE event_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_|'");

-- Segments are joined in steps that the program makes, not inside of a change that happens to be the one too many.
INSERT INTO event_words (event_words, rank) VALUES ('automerge', 0);

-- For the removal of failed logins that no longer count.
CREATE INDEX login_failure_expires ON login_failure (expires);
CREATE INDEX address_failure_at ON address_failure (at);
