import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Accesses, namesOf } from '../../../src/kernel/cache/access.ts';

const accesses = suite('what statements read and change');

const handle = new SQLite(':memory:');
handle.pragma('foreign_keys = ON');
handle.exec(`
  CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT, colour TEXT, closed INTEGER);
  CREATE INDEX shelf_open ON shelf (name) WHERE closed IS NULL;
  CREATE TABLE book (id INTEGER PRIMARY KEY, shelf_id INTEGER REFERENCES shelf ON DELETE CASCADE, title TEXT, pages INTEGER);
  CREATE INDEX book_shelf ON book (shelf_id);
  CREATE TABLE loan (book_id INTEGER REFERENCES book ON DELETE SET NULL, reader TEXT);
  CREATE TABLE word (word TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
  CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TRIGGER book_added AFTER INSERT ON book BEGIN INSERT INTO log (text) VALUES (NEW.title); END;
  CREATE VIEW open_shelf AS SELECT * FROM shelf WHERE closed IS NULL;
  CREATE VIRTUAL TABLE words USING fts5 (text);
`);
const of = (text: string): { reads: string[]; changes: string[]; sign: number | undefined } => {
  const { changes, counted, reads } = new Accesses(handle).of(text);
  return { reads: namesOf(reads).sort(), changes: namesOf(changes).sort(), sign: counted?.sign };
};
const reads = (text: string): string[] => of(text).reads;
const changes = (text: string): string[] => of(text).changes;

accesses('a query reads the rows of its tables and the named columns', () => {
  assert.equal(reads('SELECT colour FROM shelf WHERE id = ?'), ['shelf', 'shelf.colour']);
  assert.equal(reads('SELECT 1'), []);
});

accesses('expands a view to its tables, and an index to its columns and condition', () => {
  assert.equal(reads("SELECT id FROM open_shelf WHERE name = 'x'"), ['shelf', 'shelf.closed', 'shelf.name']);
});

accesses('sub-queries, joins and lists of parameters count', () => {
  assert.equal(
    reads(
      'SELECT (SELECT group_concat(title) FROM book b WHERE b.shelf_id = s.id) FROM json_each(@ids) i CROSS JOIN shelf s ON s.id = i.value',
    ),
    ['book', 'book.shelf_id', 'book.title', 'shelf'],
  );
});

accesses('a table without rowids is read with all its columns', () => {
  assert.equal(reads('SELECT count FROM word WHERE word = ?'), ['word', 'word.count', 'word.word']);
});

accesses('virtual tables are read and changed by name', () => {
  assert.equal(reads('SELECT rowid FROM words WHERE words MATCH ?'), ['words']);
  assert.equal(changes('INSERT INTO words (text) VALUES (?)'), ['words']);
});

accesses('an update changes the columns that it sets', () => {
  assert.equal(
    of('UPDATE book SET title = ?, "pages" = (SELECT max(id), 1 FROM log) WHERE id = ?'.replace(', 1', '')),
    { reads: ['log'], changes: ['book.pages', 'book.title'], sign: undefined },
  );
  assert.equal(changes("UPDATE book SET title = ', pages = ' || title"), ['book.title']);
  for (const operator of ['IS DISTINCT FROM', 'IS NOT DISTINCT\n FROM'])
    assert.equal(
      changes(`UPDATE book SET title = title ${operator} ?, pages = 1`),
      ['book.pages', 'book.title'],
      operator,
    );
  assert.equal(changes('UPDATE word SET count = count + 1'), ['word.count']);
});

accesses('an update whose columns cannot be parsed changes the whole table', () => {
  for (const text of [
    'UPDATE book SET (title, pages) = (?, ?)',
    'UPDATE book SET title = ? /* ( */, pages = ?',
    'UPDATE book SET title = ? -- WHERE\n, pages = ?',
    'UPDATE book /* the */ SET title = ?',
    'UPDATE book SET [title] = ?',
    'UPDATE OR IGNORE book SET title = ?',
    'UPDATE main.book SET title = ?',
    'WITH first AS (SELECT 1) UPDATE book SET title = ?',
  ])
    assert.equal(changes(text), ['book'], text);
});

accesses('counts inserted and deleted rows, including those of triggers and foreign keys', () => {
  assert.equal(of('INSERT INTO shelf (name) VALUES (?)'), { reads: [], changes: ['shelf'], sign: 1 });
  assert.equal(of('INSERT OR FAIL INTO shelf (name) VALUES (?)'), { reads: [], changes: ['shelf'], sign: 1 });
  assert.equal(changes('INSERT INTO book (title) VALUES (?)'), ['book', 'log']);
  assert.equal(changes('DELETE FROM shelf WHERE id = ?'), ['book', 'loan', 'shelf']);
  assert.is(of('DELETE FROM shelf WHERE id = ?').sign, -1);
  assert.equal(changes('DELETE FROM log'), ['log']);
});

accesses('does not count statements that may update a row instead of inserting one', () => {
  const { changes, sign } = of("INSERT INTO word VALUES ('a', 1) ON CONFLICT DO UPDATE SET count = count + 1");
  assert.equal([changes, sign], [['word'], undefined]);
  assert.is(of('INSERT OR REPLACE INTO shelf (id) VALUES (1)').sign, undefined);
});

/** The tables and indexes that a query walks through (with a star: completely), and whether it sorts. */
const walks = (text: string): string => {
  const { sorts, walks: matches } = new Accesses(handle).of(text);
  return [...matches.map(({ isWhole, table }) => (isWhole ? `${table}*` : table)), ...(sorts ? ['sorted'] : [])].join(
    ' ',
  );
};

accesses('does not count a look-up by key as a scan', () => {
  assert.is(walks('SELECT name FROM shelf WHERE id = ?'), '');
  assert.is(walks("SELECT count FROM word WHERE word = 'x'"), '');
  assert.is(walks('SELECT name FROM json_each(@ids) i CROSS JOIN shelf s ON s.id = i.value'), '');
});

accesses('distinguishes scans of a whole table from ranges of an index or of keys', () => {
  assert.is(walks('SELECT count(*) FROM shelf'), 'shelf*');
  assert.is(walks("SELECT id FROM book WHERE title LIKE 'x%' LIMIT 10"), 'book*');
  assert.is(walks('SELECT id FROM book ORDER BY title LIMIT 10'), 'book* sorted');
  assert.is(walks('SELECT id FROM book ORDER BY id DESC LIMIT 10'), 'book*');
  assert.is(walks('SELECT id FROM book WHERE shelf_id = ?'), 'book');
  assert.is(walks('SELECT id FROM book WHERE id > ?'), 'book');
  assert.is(walks("SELECT word FROM word WHERE word > 'x'"), 'word');
  assert.is(walks('SELECT b.id FROM shelf s CROSS JOIN book b ON b.shelf_id = s.id'), 'book shelf*');
});

accesses('a partial index is not a whole table, nor is a full-text index', () => {
  assert.is(walks('SELECT name FROM shelf WHERE closed IS NULL ORDER BY name'), 'shelf');
  assert.is(walks("SELECT rowid FROM words WHERE words MATCH 'x'"), 'words');
});

accesses.run();
