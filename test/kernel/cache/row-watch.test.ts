import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';

const watches = suite('Rows that are watched');

/** Creates books with pages, and records the ids of the reported books. */
function shelf() {
  const db = SqliteDatabase.open(':memory:');
  db.script(`
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE page (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, book_id INTEGER NOT NULL REFERENCES book ON DELETE CASCADE, text TEXT NOT NULL);
  `);
  const reports: number[] = [];
  const watched = {
    table: 'book',
    rules: { book: { column: 'id' }, page: { column: 'book_id', where: { column: 'kind', is: 'text' } } },
    read: ['book.title', 'page.book_id', 'page.kind', 'page.text'],
  };
  const watch = db.watchRows(watched, (id) => reports.push(id));
  if (!watch) throw new Error('Inside a transaction');
  const book = (title: string): number => db.run(sql`INSERT INTO book (title) VALUES (${title})`).id;
  const page = (of: number, kind = 'text'): number =>
    db.run(sql`INSERT INTO page (kind, book_id, text) VALUES (${kind}, ${of}, '')`).id;
  /** Returns the ids of the books that `work` makes the watch report. */
  const messages = (work: () => unknown): number[] => {
    reports.length = 0;
    db.write(work);
    return [...reports];
  };
  return { db, watch, book, page, tells: messages };
}

watches('reports an object from its inclusion on, for every row separately', () => {
  const { book, db, page, tells: messages, watch } = shelf();
  let [first, second, leaf] = [0, 0, 0];
  assert.equal(
    messages(() => {
      first = book('First');
      leaf = page(first);
    }),
    [],
  );
  watch.include(first);
  assert.equal(
    messages(() => {
      second = book('Second');
      page(second);
    }),
    [],
  );
  assert.equal(
    messages(() => page(first)),
    [first],
  );
  assert.equal(
    messages(() => page(first, 'cover')),
    [],
  );
  assert.equal(
    messages(() => db.run(sql`UPDATE book SET title = 'Other' WHERE id = ${first}`)),
    [first],
  );
  assert.equal(
    messages(() => db.run(sql`UPDATE book SET pages = 2 WHERE id = ${first}`)),
    [],
  );
  watch.include(second);
  assert.equal(
    messages(() => db.run(sql`UPDATE page SET book_id = ${second} WHERE id = ${leaf}`)),
    [first, second],
  );
  assert.equal(
    messages(() => db.run(sql`UPDATE page SET kind = 'cover' WHERE id = ${leaf}`)),
    [second],
  );
  assert.equal(
    messages(() => db.run(sql`UPDATE page SET kind = 'text' WHERE id = ${leaf}`)),
    [second],
  );
  assert.equal(
    messages(() => db.run(sql`DELETE FROM book WHERE id = ${second}`)).filter((id, i, all) => all.indexOf(id) === i),
    [second],
  );
  db.close();
});

watches('includes an object again after the work that included it failed', () => {
  const { book, db, page, tells: messages, watch } = shelf();
  let id = 0;
  db.write(() => {
    id = book('Kept');
  });
  db.commit();
  const fail = (): void => {
    watch.include(id);
    throw new Error('Failed');
  };
  assert.throws(() => db.write(fail), /Failed/);
  watch.include(id);
  assert.equal(
    messages(() => page(id)),
    [id],
  );
  db.close();
});

watches.run();
