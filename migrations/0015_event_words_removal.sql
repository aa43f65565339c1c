-- The index of words is made anew once more, by the program at its next start: an event is removed from it by its words. What
-- FTS5 keeps to remove events by their ids alone doubles now and then in one piece, of a long log for longer than a write may wait.

DROP TABLE event_words;
CREATE VIRTUAL TABLE event_words USING fts5 (words, content = '', tokenize = "ascii tokenchars '_|'");
INSERT INTO event_words (event_words, rank) VALUES ('automerge', 0);
