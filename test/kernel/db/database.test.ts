/** Changes to the database: a savepoint per piece of work, and one commit per turn of the event loop. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { BatchRolledBack } from '../../../src/kernel/durability/storage-error.ts';
import { invalidationsOf } from '../../support/invalidations.ts';

const database = suite('database');
let folder: string;
let db: SqliteDatabase;
/** Another connection, which sees only committed changes. */
let outside: SQLite.Database;

database.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-db-'));
  db = SqliteDatabase.open(join(folder, 'test.db'));
  db.script('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT');
  outside = new SQLite(join(folder, 'test.db'));
});
database.after.each(() => {
  outside.close();
  db.close();
  rmSync(folder, { recursive: true });
});

const add = (name: string) => db.insert('item', { name });
const committed = () => outside.prepare('SELECT name FROM item ORDER BY id').pluck().all();
const settled = () => new Promise<unknown>((resolve) => db.afterCommit(resolve));

database('the file is in WAL mode with full synchronisation and foreign keys', () => {
  assert.equal(
    [db.pragma('journal_mode'), db.pragma('synchronous'), db.pragma('foreign_keys'), db.pragma('trusted_schema')],
    ['wal', 2, 1, 0],
  );
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Writes a file with two tables to copy, in which an item refers to one that only the target may have. */
function otherDatabase(): string {
  const file = join(folder, 'other.db');
  const other = new SQLite(file);
  other.exec(`
    PRAGMA foreign_keys = OFF; PRAGMA page_size = 8192;
    ${numberedTables};
    INSERT INTO numbered VALUES (7, 'seven', 1), (3, 'three', 7);
    INSERT INTO removed VALUES (5); DELETE FROM removed`);
  other.close();
  return file;
}

const numberedTables = `
  CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, next INTEGER REFERENCES numbered) STRICT;
  CREATE UNIQUE INDEX numbered_name ON numbered (name);
  CREATE TABLE removed (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT`;

const numbered = sql`SELECT name FROM numbered ORDER BY id`;
/** What `copyTables` changes for its duration. */
const settingsOf = () => [db.pragma('foreign_keys'), db.values(sql`SELECT name FROM pragma_database_list`)];

for (const [state, rows] of [
  ['empty tables', []],
  ['tables with rows', ['one']],
] as const)
  database(`copyTables fills ${state} together with its work, and continues their numbers`, () => {
    db.script(numberedTables);
    db.write(() => {
      for (const name of rows) db.insert('numbered', { name });
    });
    const count = sql`SELECT count(*) FROM numbered`;
    assert.equal([db.count(count), db.rowsIn('numbered')], [rows.length, rows.length]);
    const file = otherDatabase();
    db.copyTables(
      file,
      () => rmSync(file),
      ['numbered', 'removed'],
      () => {
        db.update('numbered', 3, { name: 'drei' });
      },
    );
    assert.equal(outside.prepare(numbered.text).pluck().all(), [...rows, 'drei', 'seven']);
    assert.equal([db.count(count), db.rowsIn('numbered')], [rows.length + 2, rows.length + 2]);
    assert.equal(settingsOf(), [1, ['main']]);
    assert.is(db.pragma('integrity_check'), 'ok');
    db.write(() =>
      assert.equal([db.insert('numbered', { name: 'eight' }), db.insert('removed', { id: null })], [8, 6]),
    );
  });

database('copyTables changes nothing if a row or its work fails, and keeps earlier changes', () => {
  db.script(numberedTables);
  const file = otherDatabase();
  db.write(() => db.insert('numbered', { name: 'seven' }));
  const copy = (work: () => void) => () => db.copyTables(file, () => undefined, ['removed', 'numbered'], work);
  assert.throws(
    copy(() => undefined),
    /UNIQUE/,
  );
  db.write(() => db.update('numbered', 1, { name: 'one' }));
  assert.throws(
    copy(() => {
      throw new Error('the work failed');
    }),
    /the work failed/,
  );
  const missing = join(folder, 'missing', 'file');
  assert.throws(
    () =>
      db.copyTables(
        missing,
        () => undefined,
        ['numbered'],
        () => undefined,
      ),
    /unable to open/,
  );
  db.commit();
  assert.equal(outside.prepare(numbered.text).pluck().all(), ['one']);
  assert.equal(settingsOf(), [1, ['main']]);
  assert.throws(() => db.write(() => db.update('numbered', 1, { next: 99 })), /FOREIGN KEY/);
  db.write(() => assert.is(db.insert('numbered', { name: 'two' }), 2));
});

database('rejects changes outside write', () => {
  assert.throws(() => add('x'), /A change outside Database.write/);
  assert.throws(() => db.run(sql`DELETE FROM item`), /A change outside Database.write/);
  assert.throws(() => db.update('item', 1, { name: 'x' }), /A change outside Database.write/);
});

database('commits all changes of one event-loop turn together at its end', async () => {
  db.write(() => add('one'));
  db.write(() => add('two'));
  assert.equal(db.values(sql`SELECT name FROM item`), ['one', 'two']);
  assert.equal(committed(), []);
  await settled();
  assert.equal(committed(), ['one', 'two']);
});

database('includes the work of the next iterations while each has some', async () => {
  const counts: number[] = [];
  const turns = [2, 3, 1, 0, 1, 0];
  // A batch ends by its age, too, which a busy machine reaches between two iterations.
  const { now } = performance;
  performance.now = () => 0;
  try {
    for (const pieces of turns) {
      for (let piece = 0; piece < pieces; piece++) db.write(() => add(`${counts.length}.${piece}`));
      await turn();
      counts.push(committed().length);
    }
  } finally {
    performance.now = now;
  }
  assert.equal(counts, [0, 0, 0, 6, 6, 7]);
});

database('commits a turn with very many changes at its end', async () => {
  for (let piece = 0; piece < 64; piece++) db.write(() => add(String(piece)));
  await turn();
  assert.is(committed().length, 64);
});

database(
  'settled calls back after the commit, in the order of asking, and at once when nothing is pending',
  async () => {
    const heard: unknown[] = [];
    db.write(() => add('one'));
    db.afterCommit((error) => heard.push(['first', error, committed()]));
    db.write(() => add('two'));
    db.afterCommit((error) => heard.push(['second', error, committed()]));
    assert.equal(heard, []);
    await settled();
    assert.equal(heard, [
      ['first', undefined, ['one', 'two']],
      ['second', undefined, ['one', 'two']],
    ]);
    db.afterCommit((error) => heard.push(['at once', error]));
    assert.equal(heard.at(-1), ['at once', undefined]);
  },
);

database('does not run the callback of work that was rolled back', async () => {
  const heard: string[] = [];
  db.write(() => db.onceStored(() => heard.push(`stored ${committed()}`)));
  assert.throws(() =>
    db.write(() => {
      db.onceStored(() => heard.push('undone'));
      db.write(() => db.onceStored(() => heard.push('undone within')));
      throw new Error('no');
    }),
  );
  db.write(() => {
    add('kept');
    assert.throws(() =>
      db.write(() => {
        db.onceStored(() => heard.push('undone alone'));
        throw new Error('no');
      }),
    );
  });
  assert.equal(heard, []);
  await settled();
  assert.equal(heard, ['stored kept']);
  db.script('CREATE TABLE part (item INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED) STRICT');
  db.write(() => {
    db.insert('part', { item: 99 });
    db.onceStored(() => heard.push('of a commit that failed'));
  });
  assert.match(((await settled()) as Error).message, /FOREIGN KEY/);
  assert.equal(heard, ['stored kept']);
});

database('failing work rolls back alone', async () => {
  db.write(() => add('before'));
  assert.throws(
    () =>
      db.write(() => {
        add('half');
        throw new Error('no');
      }),
    /^no$/,
  );
  assert.throws(() => db.write(() => add('before')), /UNIQUE/);
  db.write(() => add('after'));
  assert.is(await settled(), undefined);
  assert.equal(committed(), ['before', 'after']);
});

/** Repeatable work. Records when its failure takes other work back. */
const repeatable = (work: () => void, taking: string[] = []) =>
  db.writeRepeatable(work, () => taking.push('taken back'));
const failing = () => {
  throw new Error('no');
};
const addAndFail = (name: string) => () => {
  add(name);
  failing();
};

database(
  'work that can be run again and fails after a change takes back all of its batch, who are reported so',
  async () => {
    repeatable(() => add('before'));
    const reports = settled();
    const taking: string[] = [];
    const half = () => {
      add('half');
      db.onceStored(() => taking.push('stored'));
      failing();
    };
    assert.throws(() => repeatable(half, taking), /^no$/);
    assert.equal(taking, ['taken back']);
    assert.instance(await reports, BatchRolledBack);
    assert.equal(db.values(sql`SELECT name FROM item`), []);
    repeatable(() => add('before'));
    assert.is(await settled(), undefined);
    assert.equal(committed(), ['before']);
    assert.is(db.trouble, undefined);
  },
);

database('repeatable work that fails before a change, or inside a nested call, rolls back nothing', async () => {
  const taking: string[] = [];
  repeatable(() => add('before'), taking);
  assert.throws(() => repeatable(failing, taking), /^no$/);
  repeatable(() => {
    add('outer');
    assert.throws(() => db.write(addAndFail('inner')), /^no$/);
  }, taking);
  assert.is(await settled(), undefined);
  assert.equal([committed(), taking], [['before', 'outer'], []]);
});

database('a statement that fails after partial changes counts as a change', async () => {
  const taking: string[] = [];
  const half = () => db.run(sql`INSERT OR FAIL INTO item (name) VALUES ('one'), ('two'), ('one')`);
  assert.throws(() => repeatable(half, taking), /UNIQUE/);
  assert.equal(db.values(sql`SELECT name FROM item`), []);
  assert.equal(taking, ['taken back']);
  assert.throws(() => db.write(half), /UNIQUE/);
  assert.is(await settled(), undefined);
  assert.equal(committed(), []);
});

database('repeatable work rolls back alone beside work that cannot be repeated', async () => {
  const taking: string[] = [];
  repeatable(() => add('before'), taking);
  db.write(() => add('once'));
  assert.throws(() => repeatable(addAndFail('half'), taking), /^no$/);
  repeatable(() => add('after'), taking);
  assert.is(await settled(), undefined);
  assert.equal([committed(), taking], [['before', 'once', 'after'], []]);
});

database('repeatable work in one separate transaction rolls back nothing else', async () => {
  const taking: string[] = [];
  await db.whole(async () => {
    repeatable(() => add('before'), taking);
    assert.throws(() => repeatable(addAndFail('half'), taking), /^no$/);
  });
  assert.equal([committed(), taking], [['before'], []]);
});

database('nested work also rolls back alone', async () => {
  db.write(() => {
    add('outer');
    try {
      db.write(() => {
        add('inner');
        throw new Error('no');
      });
    } catch {
      add('caught');
    }
  });
  await settled();
  assert.equal(committed(), ['outer', 'caught']);
});

database('makes last changes in the order of the work, and drops those of work that fails', async () => {
  const last = (name: string) => db.changeLast(() => add(name));
  db.write(() => {
    last('last of one');
    add('one');
    assert.throws(() =>
      db.write(() => {
        last('last of the inner');
        failing();
      }),
    );
  });
  db.write(() => last('last of two'));
  assert.throws(() =>
    db.write(() => {
      last('last of three');
      failing();
    }),
  );
  db.write(() => add('four'));
  assert.equal(db.values(sql`SELECT name FROM item ORDER BY id`), ['one', 'four']);
  assert.is(await settled(), undefined);
  assert.equal(committed(), ['one', 'four', 'last of one', 'last of two']);
  assert.throws(() => last('outside'), /A change outside Database.write/);
});

database('drops the last changes of a batch that is rolled back', async () => {
  repeatable(() => db.changeLast(() => add('last')));
  assert.throws(() => repeatable(addAndFail('half')), /^no$/);
  assert.is(await settled(), undefined);
  repeatable(() => add('next'));
  assert.is(await settled(), undefined);
  assert.equal(committed(), ['next']);
});

database('a failed last change rolls back its whole batch, and every request is informed', async () => {
  const before = db.versions.generation;
  db.write(() => add('one'));
  db.write(() => db.changeLast(() => add('one')));
  assert.match(String(await settled()), /UNIQUE/);
  assert.equal([committed(), db.values(sql`SELECT name FROM item`)], [[], []]);
  assert.ok(db.versions.generation > before, 'cached values are outdated');
  db.write(() => add('next'));
  assert.is(await settled(), undefined);
  assert.equal(committed(), ['next']);
});

database('commit does not wait for the end of the turn, and is rejected inside write', () => {
  db.write(() => add('now'));
  db.commit();
  assert.equal(committed(), ['now']);
  db.commit();
  assert.throws(() => db.write(() => db.commit()), /A commit inside Database.write/);
});

database('commits pending work when it closes, and leaves an empty log', () => {
  db.write(() => add('last'));
  outside.close();
  db.close();
  outside = new SQLite(join(folder, 'test.db'), { readonly: true });
  assert.equal(committed(), ['last']);
  db.close();
});

database('reports success to no request when the disk is full, and keeps committed changes', async () => {
  db.write(() => add('kept'));
  await settled();
  db.pragma('max_page_count = 4');
  const heard: unknown[] = [];
  db.write(() => add('small'));
  db.afterCommit((error) => heard.push(error));
  assert.throws(() => db.write(() => add('x'.repeat(100_000))), /full/);
  const later = await settled();
  for (const error of [...heard, later]) if (error !== undefined) assert.match((error as Error).message, /full/);
  assert.equal(committed(), heard[0] === undefined ? ['kept', 'small'] : ['kept']);
  db.pragma('max_page_count = 1000');
  db.write(() => add('y'.repeat(100_000)));
  assert.is(await settled(), undefined);
  assert.is(committed().length, heard[0] === undefined ? 3 : 2);
});

database('when the commit fails, every request of the turn is informed, and the next turn starts afresh', async () => {
  db.script('CREATE TABLE child (item INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED) STRICT');
  db.write(() => db.insert('child', { item: 99 }));
  const heard: unknown[] = [];
  db.afterCommit((error) => heard.push(error));
  db.write(() => add('with it'));
  heard.push(await settled());
  for (const error of heard) assert.match((error as Error).message, /FOREIGN KEY/);
  assert.equal(committed(), []);
  db.write(() => add('next'));
  assert.is(await settled(), undefined);
  assert.equal(committed(), ['next']);
});

database('caches a count until a write, also by other processes', async () => {
  const count = () => db.count(sql`SELECT count(*) FROM item`);
  assert.is(count(), 0);
  db.write(() => add('one'));
  assert.is(count(), 1);
  assert.throws(() =>
    db.write(() => {
      add('two');
      assert.is(count(), 2);
      throw new Error('no');
    }),
  );
  assert.is(count(), 1);
  await settled();
  outside.prepare("INSERT INTO item (name) VALUES ('theirs')").run();
  db.catchUp();
  assert.is(count(), 2);
});

database(
  'unsynced work is committed by itself and at once, and the user who writes before or after it waits for the disk as ever',
  async () => {
    const modes: unknown[] = [];
    const mode = () => modes.push(db.pragma('synchronous'));
    db.write(() => add('before'));
    db.afterCommit(mode);
    const notingMode = (name: string) => () => {
      mode();
      return add(name);
    };
    assert.is(db.writeRelaxed(notingMode('old')), 2);
    assert.equal(committed(), ['before', 'old']);
    db.write(notingMode('after'));
    await settled();
    assert.equal(modes, [2, 1, 2]);
    assert.equal(committed(), ['before', 'old', 'after']);
  },
);

database('failed unsynced work leaves nothing, and the next write waits for the disk', () => {
  const fail = (message: string) =>
    db.writeRelaxed(() => {
      add('half');
      throw new Error(message);
    });
  assert.throws(() => fail('no'), /^no$/);
  assert.is(db.pragma('synchronous'), 2);
  db.script('CREATE TABLE child (item INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED) STRICT');
  assert.throws(() => db.writeRelaxed(() => db.insert('child', { item: 99 })), /FOREIGN KEY/);
  assert.is(db.pragma('synchronous'), 2);
  assert.throws(() => db.write(() => db.writeRelaxed(() => add('inside'))), /A commit inside Database.write/);
  assert.is(db.pragma('synchronous'), 2);
  assert.equal(committed(), []);
});

database(
  'rollbacks and writes of other processes invalidate cached rows, a failure without changes does not',
  async () => {
    const invalidations = invalidationsOf(db);
    let last = 0;
    const newInvalidations = (): number => {
      const before = last;
      last = invalidations();
      return last - before;
    };
    const fails = (work: () => void) =>
      assert.throws(
        () =>
          db.write(() => {
            work();
            throw new Error('no');
          }),
        /^no$/,
      );
    db.write(() => add('one'));
    await settled();
    newInvalidations();
    fails(() => undefined);
    assert.is(newInvalidations(), 0, 'nothing was changed');
    fails(() => add('two'));
    assert.is(newInvalidations(), 1, 'rolled back');
    await settled();
    outside.prepare("INSERT INTO item (name) VALUES ('theirs')").run();
    db.write(() => assert.is(newInvalidations(), 1, 'written by others'));
    await settled();
    db.write(() => add('three'));
    await settled();
    assert.is(newInvalidations(), 0, 'written here');
    db.script('CREATE TABLE child (item INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED) STRICT');
    assert.is(newInvalidations(), 1, 'a script may do anything');
    db.write(() => db.insert('child', { item: 99 }));
    await settled();
    assert.is(newInvalidations(), 1, 'not committed');
  },
);

database('runs whole work as one transaction over many event-loop iterations', async () => {
  const response = await db.whole(async () => {
    db.write(() => add('one'));
    await turn();
    await turn();
    db.write(() => add('two'));
    assert.equal(committed(), []);
    return 'done';
  });
  assert.is(response, 'done');
  assert.equal(committed(), ['one', 'two']);
});

database(
  'of whole work that rejects nothing is left, not even what others wrote meanwhile, and they hear of it',
  async () => {
    db.write(() => add('before'));
    const heard: unknown[] = [];
    const failed = await db
      .whole(async () => {
        db.write(() => add('one'));
        await turn();
        db.write(() => add('others'));
        db.afterCommit((error) => heard.push(error));
        throw new Error('no');
      })
      .catch((error: Error) => error.message);
    assert.is(failed, 'no');
    assert.equal(
      heard.map((error) => (error as Error).message),
      ['no'],
    );
    assert.equal(db.values(sql`SELECT name FROM item`), ['before']);
    db.write(() => add('after'));
    await settled();
    assert.equal(committed(), ['before', 'after']);
  },
);

database('nothing can commit during whole work, or write outside of it', async () => {
  await db
    .whole(async () => {
      db.write(() => add('one'));
      db.commit();
      db.writeRelaxed(() => add('two'));
      await turn();
      assert.equal(committed(), []);
      throw new Error('no');
    })
    .catch(() => undefined);
  assert.equal(db.values(sql`SELECT name FROM item`), []);
  assert.equal([db.writeRelaxed(() => add('three')), committed()], [1, ['three']]);
});

database('other users of the machine cannot read the file or its log', async () => {
  db.write(() => add('one'));
  await settled();
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
  assert.equal(modes.sort(), [
    ['test.db', 0o600],
    ['test.db-shm', 0o600],
    ['test.db-wal', 0o600],
  ]);
});

database('update changes the named columns and does nothing for an empty change', async () => {
  const id = db.write(() => add('old'));
  db.write(() => db.update('item', id, {}));
  db.write(() => db.update('item', id, { name: 'new' }));
  assert.equal(db.get(sql`SELECT * FROM item`), { id, name: 'new' });
});

database('a function defined for SQL maps texts and leaves null alone', () => {
  db.define('twice', (text) => text + text);
  assert.equal(db.get(sql`SELECT twice('ab') AS text, twice(NULL) AS none, fold('ÄÖ Ａ') AS folded`), {
    text: 'abab',
    none: null,
    folded: 'äö a',
  });
});

database.run();
