import { createHash } from 'node:crypto';
import { keyContext, type UserNames } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { seesAll } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, authenticated, staff, userIn, visibleTo } from '../../kernel/access/right.ts';
import { newUuid } from '../../kernel/app.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { FieldError, messages, readOnlyText, refine, uuidField } from '../../kernel/collection/field.ts';
import { exact, exactUuid, ofName, uuidOf } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { plainValue } from '../../kernel/collection/representation.ts';
import { text } from '../../kernel/collection/values.ts';
import { controls } from '../../kernel/control-characters.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { present } from '../../kernel/present.ts';

interface KeyRow extends Row {
  readonly user_id: number;
  readonly name: string;
  readonly fingerprint: string;
}

/** The owner of a key. */
interface Owner extends UserNames {
  readonly id: number;
}

declare module '../../kernel/app.ts' {
  interface Reactions {
    /** The key of a user with this fingerprint was deleted. */
    readonly keyDeleted: (context: Context, user: number, fingerprint: string) => void;
  }
}

const maxNameLength = 150;

const example = {
  name: 'alice@laptop',
  public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAIuZSCpkcDwdAZdkw3TSIQSHxoD4lHapeUVfXFlwMnz alice@laptop',
};

const fields = {
  url: selfLink('keys', 'k.uuid'),
  uuid: uuidField(),
  name: text({
    max: maxNameLength,
    update: false,
    help: "Default: the key's comment, followed by a number if another key has that name.",
  }),
  public_key: refine(
    text({
      lines: 'verbatim',
      max: 2000,
      required: true,
      update: false,
      help: 'SSH public key in one line.',
      example: example.public_key,
    }),
    rejectInvalidKey,
  ),
  fingerprint: readOnlyText(),
  fingerprint_sha256: readOnlyText(),
  user_uuid: readOnlyText(plainValue('(SELECT uuid FROM user WHERE id = k.user_id)'), { shownIf: '@staff' }),
};

/** Throws FieldError unless the key is one line of a known type with a valid name as comment, and new to the caller. */
function rejectInvalidKey(line: string, { caller, db }: Request): void {
  if (/[\r\n]/.test(line)) throw new FieldError(['Key is not valid: it should be single line.']);
  const key = parsePublicKey(line);
  if (!key) throw new FieldError(['Invalid SSH public key.']);
  if (controls.test(key.comment)) throw new FieldError([messages.control]);
  const duplicate = db.value(sql`
    SELECT 1 FROM ssh_key
    WHERE user_id = ${caller.userId} AND fingerprint_sha256 = ${key.fingerprintSha256}`);
  if (duplicate) throw new FieldError(['Key with same fingerprint already exists.']);
}

export const keys = collection<KeyRow>()({
  path: 'keys',
  kind: 'SSH Key',
  description: 'SSH public keys for virtual machines. Users manage their own keys. Keys cannot be changed.',
  table: 'ssh_key',
  alias: 'k',
  fields,
  visible: visibleTo('the owner; staff and global support', (caller) =>
    seesAll(caller) ? raw('TRUE') : sql`k.user_id = ${caller.userId}`,
  ),
  examples: { create: example },
  filters: {
    ...ofName('k.name'),
    fingerprint: exact('k.fingerprint'),
    uuid: exactUuid('k.uuid'),
    user_uuid: uuidOf('k.user_id', 'user', 'Uuid of the owner.'),
  },
  orderings: { name: 'k.name COLLATE NOCASE' },
  order: 'k.id',
  create: {
    right: authenticated.as('any user, for themselves'),
    check: (request, { name = '' }) => {
      if (name !== '' && isTaken(request, name)) throw invalid({ name: ['This field must be unique.'] });
    },
    run: (request, { name, public_key: line }, columns) => {
      // The field has rejected an invalid key.
      const { comment, fingerprint, fingerprintSha256 } = present(parsePublicKey(line));
      const row = { uuid: newUuid(request.app), name: name || freeName(request, comment) };
      const id = request.db.insert('ssh_key', {
        ...columns,
        ...row,
        user_id: request.caller.userId,
        fingerprint,
        fingerprint_sha256: fingerprintSha256,
        created: request.now,
      });
      record(request, 'ssh_key_creation_succeeded', keyContext(row, ownerOf(request, request.caller.userId)));
      return id;
    },
  },
  delete: {
    right: anyOf(staff, userIn('user_id', 'the owner')),
    run: (request, row) => deleteKey(request, row, ownerOf(request, row.user_id)),
  },
});

/** Whether the caller has a key with this name. */
const isTaken = ({ caller, db }: Request, name: string): boolean =>
  db.value(sql`SELECT 1 FROM ssh_key WHERE user_id = ${caller.userId} AND name = ${name}`) !== undefined;

/** Derives a name from the comment of a key: truncated, and numbered if another key has that name. */
function freeName(request: Request, comment: string): string {
  const characters = [...comment];
  const withSuffix = (suffix: string): string =>
    characters
      .slice(0, maxNameLength - suffix.length)
      .join('')
      .trimEnd() + suffix;
  let name = withSuffix('');
  for (let number = 2; name !== '' && isTaken(request, name); number++) name = withSuffix(` ${number}`);
  return name;
}

/** Deletes all keys of a user who is being deleted, and records an event for each. */
export function deleteKeysOf(context: Context, owner: Owner): void {
  const owned = context.app.db.all<KeyRow>(
    sql`SELECT id, uuid, name, user_id, fingerprint FROM ssh_key WHERE user_id = ${owner.id} ORDER BY id`,
  );
  for (const key of owned) deleteKey(context, key, owner);
}

function deleteKey(context: Context, key: KeyRow, owner: Owner): void {
  context.app.db.run(sql`DELETE FROM ssh_key WHERE id = ${key.id}`);
  context.app.reactions.keyDeleted(context, owner.id, key.fingerprint);
  record(context, 'ssh_key_deletion_succeeded', keyContext(key, owner));
}

const ownerOf = ({ db }: Request, id: number): Owner =>
  db.one<Owner>(sql`SELECT id, uuid, username, full_name, native_name FROM user WHERE id = ${id}`);

/** An SSH public key, parsed from OpenSSH's one-line format. */
interface PublicKey {
  readonly comment: string;
  /** MD5 of the body as hex pairs joined with colons. */
  readonly fingerprint: string;
  /** `SHA256:` and the unpadded base64 of the body's SHA-256. */
  readonly fingerprintSha256: string;
}

/**
 * The fields of a key's body after the type, by type (RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4, OpenSSH PROTOCOL.u2f). A number is
 * the exact length of a field in bytes; null means any length above zero.
 */
const layouts: Readonly<Record<string, readonly (number | null)[]>> = {
  'ssh-rsa': [null, null],
  'ecdsa-sha2-nistp256': [8, 65],
  'ecdsa-sha2-nistp384': [8, 97],
  'ecdsa-sha2-nistp521': [8, 133],
  'ssh-ed25519': [32],
  'sk-ssh-ed25519@openssh.com': [32, null],
  'sk-ecdsa-sha2-nistp256@openssh.com': [8, 65, null],
};

/** Parses a public key of a known type. Returns undefined if its body is incomplete or has a different type. */
export function parsePublicKey(line: string): PublicKey | undefined {
  const match = /^(\S+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(.*))?$/.exec(line);
  if (!match) return undefined;
  const [, type = '', encoded = '', comment = ''] = match;
  const layout = Object.hasOwn(layouts, type) ? layouts[type] : undefined;
  const body = Buffer.from(encoded, 'base64');
  if (!layout || body.toString('base64') !== encoded) return undefined;
  const [word, ...fields] = splitFields(body) ?? [];
  if (word?.toString('latin1') !== type || fields.length !== layout.length) return undefined;
  if (!fields.every(({ length }, i) => (layout[i] === null ? length > 0 : length === layout[i]))) return undefined;
  const curve = /nistp\d+/.exec(type)?.[0];
  if (curve !== undefined && fields[0]?.toString('latin1') !== curve) return undefined;
  return {
    comment: comment.trim(),
    fingerprint: createHash('md5')
      .update(body)
      .digest('hex')
      .replaceAll(/..(?!$)/g, '$&:'),
    fingerprintSha256: `SHA256:${createHash('sha256').update(body).digest('base64').replace(/=+$/, '')}`,
  };
}

/** Returns the length-prefixed fields of a body; undefined if it is truncated or has trailing bytes. */
function splitFields(body: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  let offset = 0;
  while (offset < body.length) {
    if (offset + 4 > body.length) return undefined;
    const end = offset + 4 + body.readUInt32BE(offset);
    if (end > body.length) return undefined;
    fields.push(body.subarray(offset + 4, end));
    offset = end;
  }
  return fields;
}
