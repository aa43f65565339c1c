#!/usr/bin/env node
/** Imitates `litestream restore -f`: copies the database of a folder, then copies it again in place after every change. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import SQLite from 'better-sqlite3';

const words = process.argv.slice(2);
const [output, source] = [words[words.indexOf('-o') + 1], words.at(-1).slice('file://'.length)];

const primary = new SQLite(`${source}/tenantry.db`, { readonly: true });
let last;
for (let txid = 1; ; ) {
  const version = primary.prepare('SELECT epoch, version FROM deployment').raw().get().join();
  if (version !== last) {
    await apply(txid);
    last = version;
    writeFileSync(`${output}-txid.tmp`, `${txid.toString(16).padStart(16, '0')}\n`);
    renameSync(`${output}-txid.tmp`, `${output}-txid`);
    txid++;
  }
  await pause(50);
}

/** Replaces the pages of the output in one transaction, or creates the output. */
async function apply(txid) {
  if (!existsSync(output)) {
    await primary.backup(output);
    return;
  }
  const draft = `${output}.${txid}`;
  await primary.backup(draft);
  const from = new SQLite(draft);
  await from.backup(output);
  from.close();
}
