/**
 * Long tests of everything that machines do to a server.
 *
 *   npm run chaos                      all parts below, about an hour and a quarter
 *   npm run chaos -- --rounds 10       a tenth of each part
 *   npm run chaos -- --only power      one part; may be repeated
 *   npm run chaos -- --only fuzz --requests 100000 --seed x
 *
 * Prints the figures; ends with a sentence and exit code 1 when a check fails.
 */
import { parseArgs } from 'node:util';
import { builtProgram } from '../support/program.ts';
import { jumpClock } from './clock-jumps.ts';
import { bytes } from './corrupt-bytes.ts';
import { syncs } from './each-sync.ts';
import { syncsOfCommands } from './each-sync-commands.ts';
import { eio } from './failing-disk.ts';
import { writer } from './foreign-writer.ts';
import { fuzzRounds } from './fuzz/rounds.ts';
import { chaos } from './kill.ts';
import { audit } from './kill-audit.ts';
import { backup, restore } from './kill-backup.ts';
import { commands } from './kill-commands.ts';
import { migration } from './kill-migration.ts';
import { notifications } from './kill-notifications.ts';
import { scheduled } from './kill-scheduled.ts';
import { start } from './kill-start.ts';
import { lease } from './lease.ts';
import type { Given, Part } from './part.ts';
import { loseNothing } from './power.ts';
import { auditPower } from './power-audit.ts';
import { replica } from './replica-part.ts';

/** One line per part. */
const parts: Readonly<Record<string, Part>> = {
  kill: ({ program, rounds, report }) => chaos(rounds, program, report),
  notifications,
  audit,
  start,
  migration,
  backup,
  restore,
  scheduled,
  commands,
  lease,
  writer,
  replica,
  bytes,
  eio,
  power: loseNothing,
  'audit-power': auditPower,
  syncs,
  'syncs-of-commands': syncsOfCommands,
  clock: ({ jumps, program }) => jumpClock(jumps, program),
  fuzz: ({ program: [bundle = ''], ...options }) => fuzzRounds({ bundle, ...options }),
};

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    cuts: { type: 'string', default: '300' },
    requests: { type: 'string', default: '20000' },
    /** The seed of random requests; default: the time. */
    seed: { type: 'string', default: String(Date.now()) },
    jumps: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', multiple: true, default: Object.keys(parts) },
  },
});
const options: Given = {
  program: [builtProgram],
  rounds: Number(values.rounds),
  cuts: Number(values.cuts),
  jumps: Number(values.jumps),
  minutes: Number(values.minutes),
  requests: Number(values.requests),
  seed: values.seed,
  report: (text) => void process.stderr.write(`${text}\n`),
};

for (const name of values.only) {
  const run = parts[name];
  if (run === undefined) throw new Error(`There is no part ${name}; known: ${Object.keys(parts).join(', ')}`);
  const rows = Object.entries(await run(options)).map(([what, count]) => `| ${what} | ${count} |`);
  process.stdout.write(`${[`| ${name} | Count |`, '|---|---|', ...rows].join('\n')}\n\n`);
}
