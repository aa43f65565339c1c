/** Scheduled backups of a running server: created, missed, repeated, verified and overdue (core.md 14.10). */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { backupSummary, lastBackups } from '../../../src/app/backup/ages.ts';
import { failureOf } from '../../../src/app/operation/program.ts';
import { ScheduledBackups } from '../../../src/app/operation/scheduled-backups.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import { isoTime } from '../../../src/kernel/clock.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { eventually } from '../../support/eventually.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { builtProgram, nativeCache } from '../../support/program.ts';
import { testClock } from '../../support/test-clock.ts';

const test = suite('scheduled backups of a server');
const fixture = new Fixture();
let folder: string;
let schedule: ScheduledBackups;
/** Seconds that a command may take while other tests run. */
const timeoutSeconds = 110;
const usualPriority = new URL('../../support/usual-priority.mjs', import.meta.url);
/** Commands that the schedule has started, and commands that have ended. */
let [started, ended] = [0, 0];
/** Due times of backups that the schedule has skipped. */
let skipped: string[] = [];

/** Midday, so that it is clear which backups are from today and yesterday. Commands use the machine's clock. */
const today = new Date().toISOString().slice(0, 10);

test.before.each(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-schedule-'));
  await fixture.open(
    { ephemeral: false, data: join(folder, 'data'), backup_schedule: '03:00' },
    testClock(`${today}T02:59:00Z`),
  );
  schedule = new ScheduledBackups();
  [started, ended] = [0, 0];
  skipped = [];
});
test.after.each(async () => {
  schedule.close();
  await fixture.close();
  rmSync(folder, { recursive: true });
});

const backups = (): string[] => {
  try {
    return readdirSync(join(folder, 'data/backups')).filter((name) => name.endsWith('.db.gz'));
  } catch {
    return [];
  }
};

/** A command that runs until the file `end` exists, instead of the program. */
const waiting = [
  '-e',
  "setInterval(() => { if (require('node:fs').existsSync(process.argv[1])) process.exit(); }, 20)",
  '--',
];

/** Checks the schedule as the server does, with these settings for its commands. */
function tick(settings: Readonly<Record<string, string>> = {}, waits = false): void {
  const { app } = fixture.server;
  const environment = {
    ...process.env,
    TENANTRY_DATA: join(folder, 'data'),
    TENANTRY_NATIVE_CACHE: nativeCache,
    NODE_OPTIONS: `--import ${usualPriority}`,
    ...settings,
  };
  const program = {
    get file() {
      started++;
      return process.execPath;
    },
    args: waits ? [...waiting, join(folder, 'end')] : [builtProgram],
    environment,
  };
  const end = (): void => void ended++;
  const withProgram = Object.create(app, {
    deployment: { value: { ...app.deployment, program } },
    log: { value: { info: end, error: end, warn: ({ due }: { due: string }) => skipped.push(due) } },
  });
  schedule.tick({ ...systemContext(app), app: withProgram });
}

const reach = (count: number): Promise<void> =>
  eventually(`there are ${count} backups`, () => backups().length === count, timeoutSeconds);
const kinds = (): string[] =>
  fixture.server.app.db.values<string>(sql`SELECT kind FROM notification WHERE kind LIKE 'backup%' ORDER BY id`);

test('makes a backup when it is due, once, and verifies it', async () => {
  tick();
  assert.equal([started, backups()], [0, []], 'skips backups that were due before the schedule was set');
  fixture.clock.set(`${today}T03:00:00Z`);
  tick();
  tick();
  await reach(1);
  fixture.clock.set(`${today}T23:59:59Z`);
  await eventually(
    'the backup is verified',
    async () => {
      tick();
      return (await fixture.staff.get('/api/backups/')).body[0]?.verified != null;
    },
    timeoutSeconds,
  );
  assert.is(backups().length, 1);
  const { body } = await fixture.staff.get('/api/backups/');
  assert.equal(
    body.map(({ is_encrypted, name, state, target, verified: at }: Json) => [
      name,
      state,
      target,
      is_encrypted,
      at !== null,
    ]),
    [[backups()[0], 'ready', 'folder', false, true]],
  );
  assert.match(body[0].sha256, /^[0-9a-f]{64}$/);
  const content = await fetch(`${fixture.url}${new URL(body[0].url).pathname}content/`, {
    headers: { Authorization: `Token ${fixture.server.issueToken()}` },
  });
  assert.equal([content.status, (await content.arrayBuffer()).byteLength], [200, body[0].size]);
  assert.is((await fixture.staff.delete(body[0].url)).status, 204);
  assert.equal([backups(), (await fixture.staff.get('/api/backups/')).body], [[], []]);
});

test('a backup that was missed while no server was running is made five minutes after the start', async () => {
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE deployment SET backup_handled = ${Date.parse(`${today}T00:00:00Z`) * 1000 - 1}`));
  fixture.clock.set(`${today}T09:00:00Z`);
  tick();
  fixture.clock.set(`${today}T09:04:59Z`);
  tick();
  assert.equal([started, backups()], [0, []]);
  fixture.clock.set(`${today}T09:05:00Z`);
  tick();
  await reach(1);
});

test('a failed backup notifies staff at once and is tried twice more within the hour', async () => {
  writeFileSync(join(folder, 'file'), '');
  const broken = { TENANTRY_BACKUP_TARGET: join(folder, 'file/below') };
  tick();
  fixture.clock.set(`${today}T03:00:00Z`);
  for (const count of [1, 2, 3]) {
    tick(broken);
    await eventually(`${count} failures are reported`, () => kinds().length === count, timeoutSeconds);
    await eventually(`${count} commands have ended`, () => ended === count, timeoutSeconds);
    fixture.clock.advance(19 * 60);
    tick(broken);
    assert.equal([started, kinds().length], [count, count]);
    fixture.clock.advance(61);
  }
  tick(broken);
  assert.equal([started, kinds().length], [3, 3]);
  const [first] = fixture.server.app.db.values<string>(
    sql`SELECT message FROM notification WHERE kind = 'backup_failed'`,
  );
  assert.match(first as string, /^A backup has failed: cannot read .*file\/below: /);
});

/** Ends a command that waits. */
const endCommand = async (): Promise<void> => {
  const before = ended;
  writeFileSync(join(folder, 'end'), '');
  await eventually('the command has ended', () => ended > before, timeoutSeconds);
  rmSync(join(folder, 'end'));
};

/** Adds a backup to the catalogue that is due for its verification. */
const addUnverified = (): void => {
  const { db } = fixture.server.app;
  const created = Date.parse(`${today}T00:00:00Z`) * 1000;
  db.write(() => db.insert('backup', { name: 'x', target: '/nowhere', size: 1, sha256: '', is_encrypted: 0, created }));
};

test('makes a backup that is due, or due again, during a verification after it', async () => {
  addUnverified();
  tick();
  tick({}, true);
  assert.is(started, 1, 'the verification');
  fixture.clock.set(`${today}T03:00:00Z`);
  tick();
  assert.is(started, 1);
  await endCommand();
  tick();
  await reach(1);
  assert.equal([started, skipped], [2, []]);
});

test('skips a backup that is due while another one is being made, and logs it', async () => {
  tick();
  fixture.clock.set(`${today}T03:00:00Z`);
  tick({}, true);
  fixture.clock.advance(86_400);
  tick();
  tick();
  await endCommand();
  tick();
  assert.equal([started, skipped], [1, [isoTime(fixture.server.app.clock.now())]]);
});

test('makes a backup again that the end of the server interrupted, also while it waits for a retry', async () => {
  tick();
  fixture.clock.set(`${today}T03:00:00Z`);
  tick({}, true);
  schedule.close();
  const restart = (): void => {
    schedule = new ScheduledBackups();
    fixture.clock.advance(1);
    tick({ TENANTRY_BACKUP_TARGET: join(folder, 'file/below') });
    fixture.clock.advance(299);
    tick();
  };
  restart();
  assert.is(started, 1);
  writeFileSync(join(folder, 'file'), '');
  fixture.clock.advance(1);
  tick({ TENANTRY_BACKUP_TARGET: join(folder, 'file/below') });
  await eventually('the backup has failed', () => ended === 1, timeoutSeconds);
  schedule.close();
  restart();
  assert.is(started, 2);
  fixture.clock.advance(1);
  tick();
  await eventually('the backup is made', () => ended === 2, timeoutSeconds);
  const handled = fixture.server.app.db.scalar<number>(sql`SELECT backup_handled FROM deployment`);
  assert.equal([backups().length, isoTime(handled)], [1, `${today}T03:00:00Z`]);
});

test('the reason of a failure is the error of the command, not a line of its log', () => {
  const reason = (stderr: string): string => failureOf({ code: 1, stdout: '', stderr });
  assert.is(reason('{"level":40,"msg":"a warning"}\ntenantry: the bucket is full\n'), 'the bucket is full');
  assert.is(reason('Killed\n'), 'Killed');
  assert.is(reason(''), 'It exited with code 1.');
});

test('staff are notified once when the newest backup is older than twice the interval', async () => {
  const { db } = fixture.server.app;
  const made = Date.parse(`${today}T00:00:00Z`) * 1000;
  db.write(() =>
    db.insert('backup', { name: 'x', target: '/nowhere', size: 1, sha256: '', is_encrypted: 0, created: made }),
  );
  fixture.clock.set(new Date(made / 1000 + 48 * 3_600_000).toISOString());
  tick();
  assert.equal(kinds(), []);
  fixture.clock.advance(1);
  tick();
  tick();
  assert.equal(kinds(), ['backup_overdue']);
  const { body } = await fixture.staff.get('/api/operation/');
  assert.ok(
    body.troubles.includes(`the last complete backup was made on ${today}T00:00:00Z`),
    JSON.stringify(body.troubles),
  );
  assert.equal([body.last_backup, body.last_verified_backup], [`${today}T00:00:00Z`, null]);
});

test('staff are notified once when the newest verified backup is too old, with the dates that all others report', async () => {
  const { app } = fixture.server;
  const midnight = Date.parse(`${today}T00:00:00Z`) * 1000;
  const add = (name: string, days: number, isVerified = false): void => {
    const created = midnight - days * 86_400_000_000;
    const row = { name, target: '/nowhere', size: 1, sha256: '', is_encrypted: 0, created };
    app.db.write(() => app.db.insert('backup', { ...row, ...(isVerified && { verified: created + 1 }) }));
  };
  add('verified', 14, true);
  add('complete', 0);
  // Created while the clock was ahead.
  add('later', -30, true);
  fixture.clock.set(`${today}T00:00:00Z`);
  tick();
  assert.equal(kinds(), []);
  fixture.clock.advance(1);
  tick();
  tick();
  assert.equal(kinds(), ['backup_overdue']);
  const [complete, verified] = [midnight, midnight - 14 * 86_400_000_000];
  const message = app.db.scalar<string>(sql`SELECT message FROM notification WHERE kind = 'backup_overdue'`);
  assert.is(message, `Last complete backup: ${isoTime(complete)}. Last verified backup: ${isoTime(verified)}.`);
  const { body } = await fixture.staff.get('/api/operation/');
  assert.equal([body.last_backup, body.last_verified_backup], [isoTime(complete), isoTime(verified)]);
  assert.equal(body.troubles, [`the last verified backup was made on ${isoTime(verified)}`]);
  assert.equal(backupSummary(app), [
    `last complete backup: ${isoTime(complete)} (0 minutes ago); last verified: ${isoTime(verified)} (14 days ago)`,
  ]);
  assert.equal(lastBackups(app), { first: verified, complete, verified });
});

test('a failed verification is repeated after a day', async () => {
  const { db } = fixture.server.app;
  const made = Date.parse(`${today}T00:00:00Z`) * 1000;
  db.write(() => {
    db.insert('backup', { name: 'x', target: '/nowhere', size: 1, sha256: '', is_encrypted: 0, created: made });
    db.run(sql`UPDATE deployment SET verification_at = ${made}, verification_error = 'unreachable'`);
  });
  fixture.clock.set(`${today}T02:59:00Z`);
  tick();
  fixture.clock.set(new Date(made / 1000 + 86_400_000 - 1).toISOString());
  db.write(() => db.run(sql`UPDATE deployment SET backup_handled = ${fixture.server.app.clock.now()}`));
  tick();
  assert.is(started, 0);
  fixture.clock.advance(1);
  tick();
  assert.is(started, 1);
});

test.run();
