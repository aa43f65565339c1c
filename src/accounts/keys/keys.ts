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
import { parsePublicKey } from './public-key.ts';

interface KeyRow extends Row {
  readonly user_id: number;
  readonly name: string;
  readonly fingerprint: string;
}

/** The owner of a key. */
interface Owner extends UserNames {
  readonly id: number;
}

declare module '../../kernel/access/reactions.ts' {
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

/** Throws FieldError unless the key is one line of a known type, its comment is a valid name, and the caller does not have it yet. */
function rejectInvalidKey(line: string, { caller, db }: Request): void {
  if (/[\r\n]/.test(line)) throw new FieldError(['Key is not valid: it should be single line.']);
  const key = parsePublicKey(line);
  if (!key) throw new FieldError(['Invalid SSH public key.']);
  if (controls.test(key.comment)) throw new FieldError([messages.control]);
  const taken = db.value(sql`
    SELECT 1 FROM ssh_key
    WHERE user_id = ${caller.id} AND fingerprint_sha256 = ${key.fingerprintSha256}`);
  if (taken) throw new FieldError(['Key with same fingerprint already exists.']);
}

export const keys = collection<KeyRow>()({
  path: 'keys',
  kind: 'SSH Key',
  description: 'SSH public keys for virtual machines. Users manage their own keys. Keys cannot be changed.',
  table: 'ssh_key',
  alias: 'k',
  fields,
  visible: visibleTo('the owner; staff and global support', (caller) =>
    seesAll(caller) ? raw('TRUE') : sql`k.user_id = ${caller.id}`,
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
      const key = parsePublicKey(line);
      const row = { uuid: newUuid(request.app), name: name || freeName(request, key?.comment ?? '') };
      const id = request.db.insert('ssh_key', {
        ...columns,
        ...row,
        user_id: request.caller.id,
        fingerprint: key?.fingerprint,
        fingerprint_sha256: key?.fingerprintSha256,
        created: request.now,
      });
      record(request, 'ssh_key_creation_succeeded', keyContext(row, ownerOf(request, request.caller.id)));
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
  db.value(sql`SELECT 1 FROM ssh_key WHERE user_id = ${caller.id} AND name = ${name}`) !== undefined;

/** Returns the comment of a key as a name, truncated to fit, followed by the first free number if another key has that name. */
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
export function deleteKeysOf(request: Request, owner: Owner): void {
  const owned = request.db.all<KeyRow>(
    sql`SELECT id, uuid, name, user_id, fingerprint FROM ssh_key WHERE user_id = ${owner.id} ORDER BY id`,
  );
  for (const key of owned) deleteKey(request, key, owner);
}

function deleteKey(context: Context, key: KeyRow, owner: Owner): void {
  context.app.db.run(sql`DELETE FROM ssh_key WHERE id = ${key.id}`);
  context.app.reactions.keyDeleted(context, owner.id, key.fingerprint);
  record(context, 'ssh_key_deletion_succeeded', keyContext(key, owner));
}

const ownerOf = ({ db }: Request, id: number): Owner =>
  db.one<Owner>(sql`SELECT id, uuid, username, full_name, native_name FROM user WHERE id = ${id}`);
