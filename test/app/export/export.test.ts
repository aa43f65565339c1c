/** Export and import of all data. `npm test` builds the program first. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { restore } from '../../../src/app/backup/restore.ts';
import { importData } from '../../../src/app/export/import.ts';
import { loadConfig } from '../../../src/app/settings.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';
import { responsesOf, storedOf } from '../../upgrades/responses.ts';

const test = suite('export and import');
const program = new Program(nativeCache);
const path = (name: string): string => join(program.folder, name);
const run = (...words: string[]): ReturnType<Program['run']> => program.run(words);
let lines: string[];
let backupTime: number;

test.before(async () => {
  const config = loadConfig({ input: { log_level: 'silent' } });
  ({ made: backupTime } = await restore(storedOf('0.1.0').backup, path('demo'), config));
  // Changes by a later version.
  await (await program.serve(['--data', path('demo')])).stop();
  const { code, stderr, stdout } = await run('export', '--to', 'ndjson', '--data', path('demo'));
  assert.equal([code, stderr], [0, '']);
  writeFileSync(path('all.ndjson'), stdout);
  lines = stdout.trimEnd().split('\n');
});
test.after(async () => {
  await program.end();
});

/** Returns the output of a failed import of these lines. */
async function importError(name: string, ...values: string[]): Promise<string> {
  const { code, stderr } = await program.run(['import', '-', '--data', path(name)], {
    input: `${values.join('\n')}\n`,
  });
  assert.equal([code, existsSync(path(`${name}/tenantry.db`))], [1, false]);
  return stderr;
}

test('serves the same responses, byte for byte, after an export and import, and exports the same', async () => {
  const config = loadConfig({ input: { log_level: 'silent' } });
  await importData(path('all.ndjson'), path('again'), config);
  const again = await run('export', '--to', 'ndjson', '--data', path('again'));
  // An import prepares a new chain of the audit trail.
  const others = again.stdout.trimEnd().split('\n');
  const chains = others.flatMap((line, i) => (line.startsWith('{"table":"audit_chain"') ? [i] : []));
  assert.is(chains.length, 2);
  others.splice(chains[1] ?? 0, 1);
  assert.equal(
    lines
      .slice(1, -1)
      .filter((line, i) => line !== others[i + 1])
      .slice(0, 3),
    [],
  );
  assert.is(others.length, lines.length);
  const [before, after] = [await responsesOf(path('demo'), backupTime), await responsesOf(path('again'), backupTime)];
  assert.ok(Object.keys(before).length > 100);
  assert.equal(
    Object.keys(before).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key])),
    [],
  );
  assert.equal(Object.keys(after), Object.keys(before));
  assert.is(readFileSync(path('again/secret.key'), 'utf8'), readFileSync(path('demo/secret.key'), 'utf8'));
});

test('imports all or nothing, and names the invalid line', async () => {
  const [head = '', row = ''] = lines;
  const start = 'tenantry: cannot import standard input: line';
  assert.is(
    await importError('a', ...lines.slice(0, 50)),
    `${start} 50 is the last line, but not the end of the export\n`,
  );
  assert.is(await importError('b', head, row, '{"rows":2}'), `${start} 3 expects 2 rows, but there were 1\n`);
  assert.is(await importError('c', head, '{"table":"x","row":{}}'), `${start} 2 names an unknown table "x"\n`);
  assert.is(await importError('d', head, '{"table":"user","row":{"id":1}}'), `${start} 2 has no column uuid\n`);
  assert.is(await importError('e', 'words'), `${start} 1 is not a JSON object\n`);
  assert.is(await importError('f', '{}'), `${start} 1 is not the header of an export\n`);
  assert.match(
    await importError('g', head.replace(/"schema":\d+/, '"schema":999')),
    /line 1 The database has schema 999, newer than/,
  );
  const customer = lines.find((line) => line.startsWith('{"table":"customer_role"')) ?? '';
  assert.match(
    await importError('h', head, customer, '{"rows":1}'),
    /line 3 ends an export in which a row of customer_role refers to a missing row of (user|customer)/,
  );
  assert.equal(
    await run('import', path('all.ndjson'), '--data', path('demo')),
    failed(`${path('demo/tenantry.db')} exists already: move it away, or restore into another folder`),
  );
  assert.equal(
    await run('export', '--to', 'xml', '--data', path('demo')),
    failed('--to must be ndjson or postgres', 2),
  );
  assert.equal(
    await run('export', '--to', 'ndjson', '--data', path('none')),
    failed(`there is no database in ${path('none')}`),
  );
});

/** Returns why importing these parts fails in this process, and how many parts were read. */
async function rejection(parts: Iterable<string | Buffer>): Promise<[reason: string, read: number]> {
  let read = 0;
  function* counted(): Generator<Buffer> {
    for (const part of parts) {
      read++;
      yield Buffer.from(part);
    }
  }
  const config = loadConfig({ input: { log_level: 'silent' } });
  const reason = await importData(Readable.from(counted()), path('rejected'), config).then(
    () => 'imported',
    (error: Error) => error.message.replace('cannot import standard input: ', ''),
  );
  assert.not(existsSync(path('rejected/tenantry.db')));
  return [reason, read];
}

test('rejects an export whose header has values of other types', async () => {
  const [head = ''] = lines;
  const reasonOf = async (changed: string): Promise<string> => (await rejection([changed]))[0];
  for (const schema of ['1.5', '0', '-1', '"36"', 'null', '1e999'])
    assert.is(
      await reasonOf(head.replace(/"schema":\d+/, `"schema":${schema}`)),
      'line 1 has a schema that is not a positive integer',
      schema,
    );
  assert.is(
    await reasonOf(head.replace(/"made":"[^"]*"/, '"made":"today"')),
    'line 1 has a time in "made" that is not a datetime',
  );
  assert.is(
    await reasonOf(head.replace(/"keys":("(\\.|[^"])*"|null)/, '"keys":7')),
    'line 1 has keys that are neither text nor null',
  );
});

test('stops an import at a line that is too long for memory, or is not UTF-8', async () => {
  const [head = ''] = lines;
  function* endless(start: string): Generator<string> {
    yield start;
    for (let i = 0; i < 1000; i++) yield ' '.repeat(1024 * 1024);
  }
  for (const [start, line] of [
    [`${head}\n{`, 2],
    ['{', 1],
  ] as const) {
    const [reason, read] = await rejection(endless(start));
    assert.is(reason, `line ${line} is longer than 67108864 bytes`);
    assert.ok(read < 100, `${read} MiB were read`);
  }
  const odd = Buffer.from(`${head}\n{"table":"\xe9"}\n`, 'latin1');
  assert.is((await rejection([odd]))[0], 'line 2 is not UTF-8');
});

test('rejects an import with other keys than those of its database, which no server would open', async () => {
  const [head = '', ...rest] = lines;
  const withKeys = (keys: string): string => JSON.stringify({ ...JSON.parse(head), keys });
  const { keys } = JSON.parse(head) as { keys: string };
  const id = keys.replace(/:.*\n$/, '');
  for (const [name, other] of [
    ['other', `other:${Buffer.alloc(32, 1).toString('base64')}\n`],
    ['same-name', `${id}:${Buffer.alloc(32, 1).toString('base64')}\n`],
  ] as const) {
    assert.is(
      await importError(name, withKeys(other), ...rest),
      'tenantry: cannot import standard input: The encryption keys in it are not those of its database\n',
    );
    assert.not(existsSync(path(`${name}/secret.key`)));
  }
  assert.match(
    await importError('garbage', withKeys('garbage'), ...rest),
    /An encryption key must be an id, a colon and/,
  );
});

test('exports every table with its rows and foreign keys as a script for PostgreSQL', async () => {
  const { stdout } = await run('export', '--to', 'postgres', '--data', path('demo'));
  const users = lines.filter((line) => line.startsWith('{"table":"user",')).length;
  const copied = /COPY "user" \([^)]*\) FROM stdin;\n([\s\S]*?)\n\\\.\n/.exec(stdout)?.[1]?.split('\n');
  assert.is(copied?.length, users);
  assert.match(stdout, /ALTER TABLE "project" ADD FOREIGN KEY \("customer_id"\) REFERENCES "customer";/);
  assert.match(stdout, /\nCREATE VIEW active_customer_role AS [^\n]*;\n[\s\S]*COMMIT;\n$/);
  assert.not.match(stdout, /sqlite_|event_words/);
});

test.run();
