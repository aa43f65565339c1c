/** `tenantry audit …`: verify the audit trail, and remove personal data from it. */
import { resolve } from 'node:path';
import { copiedTrail, exportedTrail } from '../../activity/audit/exported-trail.ts';
import { keyIdOf } from '../../activity/audit/heads.ts';
import { readHeads } from '../../activity/audit/heads-log.ts';
import { recordedUsers, redactUser } from '../../activity/audit/redact.ts';
import { storedTrail } from '../../activity/audit/stored-trail.ts';
import { type Verified, verifyTrail } from '../../activity/audit/verify.ts';
import type { App } from '../../kernel/app.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import { readText } from '../../kernel/files.ts';
import { type Arguments, type Commands, groups, UsageError } from './command-line.ts';
import { change, read, text } from './people-commands.ts';

const { data: group } = groups;

export const auditCommands: Commands = {
  'audit verify': {
    words: ['[FILE]'],
    flags: {
      heads: { type: 'string', value: 'FILE', help: 'Compare with heads stored elsewhere' },
      key: { type: 'string', value: 'FILE', help: 'Trust only these public keys' },
      copy: { type: 'boolean', help: 'FILE has the lines that a sink received' },
    },
    group,
    help: 'Verify the audit trail, an export or a copy',
    details:
      'FILE is a response of /api/audit/export/ or, with --copy, the lines that a sink has received, with the heads between them; without it, verify the data folder, also while a server uses it. --heads has a head per line, as audit-heads.log and the log of the server; --key has public keys, as /api/audit/key/ returns them or one per line. Exit with 1 and the first problem.',
    examples: [
      'audit verify --heads /mnt/other/audit-heads.log',
      'audit verify audit.ndjson --key keys.json',
      'audit verify --copy /mnt/other/audit.ndjson',
    ],
    run: verify,
  },
  'audit redact': {
    words: ['USER'],
    flags: { reason: { type: 'string', value: 'TEXT', help: 'Why, as the audit trail records it' } },
    group,
    help: 'Remove personal data of a user from the audit trail',
    details:
      'USER is a name or a uuid, also of a deleted user. The names, the address and the changed values go from all records of or about the user, or that name the user; who changed what by which operation stays, and the trail still verifies. --reason is required. A server may be running.',
    examples: ['audit redact alice --reason "Request of 2026-11-20"'],
    run: redact,
  },
};

function redact(args: Arguments): Promise<void> {
  const reason = text(args, 'reason') ?? '';
  if (reason.trim() === '') throw new UsageError('--reason is required');
  return change(args, (app, user) => {
    const count = redactUser(app, uuidOf(app, user), reason);
    process.stdout.write(`Redacted ${count} records.\n`);
  });
}

/** Returns the uuid of a user, who may have been deleted. Throws a readable error. */
function uuidOf(app: App, user: string): string {
  const known = app.db.value<string>(sql`SELECT uuid FROM user WHERE username_folded = ${caseFold(user)}`);
  const uuid = user.replaceAll('-', '').toLowerCase();
  if (known !== undefined) return known;
  if (/^[0-9a-f]{32}$/.test(uuid)) return uuid;
  const recorded = recordedUsers(app, user);
  const [only] = recorded;
  if (only === undefined) throw new Error(`there is no user "${user}", and the audit trail names none`);
  if (recorded.length > 1)
    throw new Error(`several users had the name "${user}": use a uuid, ${recorded.join(' or ')}`);
  return only;
}

async function verify(args: Arguments): Promise<void> {
  const {
    copy: isCopy,
    words: [file],
  } = { ...args, copy: args.flags.copy === true };
  const [headsFile, keyFile] = [text(args, 'heads'), text(args, 'key')];
  const heads = headsFile === undefined ? undefined : readHeads(resolve(headsFile));
  const keys = keyFile === undefined ? undefined : readPublicKeys(resolve(keyFile));
  const report = (verified: Verified): void =>
    printVerified(verified, heads !== undefined, file !== undefined && !keys);
  if (isCopy && file === undefined) throw new UsageError('--copy needs a FILE');
  if (file === undefined)
    await read(args, ({ auditHeads, db }) => report(verifyTrail(storedTrail(db, auditHeads.folder, { heads, keys }))));
  else report(verifyTrail((isCopy ? copiedTrail : exportedTrail)(resolve(file), keys, heads ?? [])));
}

function printVerified(
  { chains, finding, records, redacted, replaced }: Verified,
  hasHeads: boolean,
  lacksKey: boolean,
): void {
  if (finding !== undefined) process.exitCode = 1;
  const lines =
    finding === undefined
      ? [
          `Verified ${records} records in ${chains} chains, ${redacted} redacted.`,
          ...replaced,
          ...(hasHeads ? [] : ['No external heads were given: a rewritten trail would go unnoticed.']),
          ...(lacksKey ? ['No key was given: the signatures of heads were not verified.'] : []),
        ]
      : [finding];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Reads public keys by id from a response of /api/audit/key/ or lines of base64. Throws a readable error. */
function readPublicKeys(file: string): Map<string, string> {
  const content = readText(file);
  const keys = keysIn(content);
  if (keys.length === 0 || keys.some((key) => Buffer.from(key, 'base64').length !== 32))
    throw new Error(`${file} is not a list of public keys: each has 32 bytes in base64`);
  return new Map(keys.map((key) => [keyIdOf(key), key]));
}

function keysIn(content: string): string[] {
  if (!content.trimStart().startsWith('['))
    return content
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  try {
    const items: readonly { readonly public_key?: unknown }[] = JSON.parse(content);
    return items.map(({ public_key: key }) => String(key));
  } catch {
    return [];
  }
}
