import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Request } from '../../kernel/access/request.ts';
import { staff } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape, uuidShape } from '../../kernel/collection/field.ts';
import { linkShape } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, notFound } from '../../kernel/http/error.ts';
import { empty, json, type Reply, streamed } from '../../kernel/http/reply.ts';
import { errorOf } from '../../kernel/present.ts';
import { isS3 } from '../backup/config.ts';
import { removeBackup } from '../backup/scheduled.ts';
import { backupUuid, targetOf } from '../backup/target.ts';
import type { Backup, BackupFolder } from './backup-folder.ts';
import { pageOfValues, requireStaff } from './requests.ts';

const shape = {
  title: 'Backup',
  ...objectShape({
    url: linkShape('backups'),
    uuid: uuidShape,
    name: { type: 'string' },
    state: { type: 'string', enum: ['writing', 'ready', 'failed'] },
    size: { type: 'integer' },
    created: { type: 'string', format: 'date-time' },
    error_message: { type: 'string' },
    target: { type: 'string', enum: ['folder', 's3'] },
    sha256: { type: ['string', 'null'], description: 'Of the file; null unless the backup was scheduled.' },
    is_encrypted: { type: 'boolean' },
    verified: { type: ['string', 'null'], format: 'date-time', description: 'The last successful verification.' },
  }),
};

const urlOf = ({ base }: Request, { uuid }: Backup): string => `${base}/api/backups/${uuid}/`;

const represent = (request: Request, { place: _, ...backup }: ListedBackup) => ({
  url: urlOf(request, backup),
  ...backup,
});

/** A backup in the data folder or at the target in the settings. */
interface ListedBackup extends Backup {
  readonly target: 'folder' | 's3';
  readonly sha256: string | null;
  readonly is_encrypted: boolean;
  readonly verified: string | null;
  /** The target of a scheduled backup. */
  readonly place?: string;
}

const withoutSchedule = { target: 'folder', sha256: null, is_encrypted: false, verified: null } as const;

interface CatalogueRow {
  readonly name: string;
  readonly target: string;
  readonly size: number;
  readonly sha256: string;
  readonly is_encrypted: number;
  readonly created: number;
  readonly verified: number | null;
}

/** Returns the complete scheduled backups. */
const scheduled = ({ db }: Request): ListedBackup[] =>
  db
    .all<CatalogueRow>(sql`SELECT * FROM backup`)
    .map(({ created, is_encrypted, name, sha256, size, target, verified }) => ({
      uuid: backupUuid(name),
      name,
      state: 'ready',
      size,
      created: isoTime(created),
      error_message: '',
      target: isS3(target) ? 's3' : 'folder',
      sha256: sha256 || null,
      is_encrypted: is_encrypted === 1,
      verified: verified === null ? null : isoTime(verified),
      place: target,
    }));

/** Returns all backups, newest first. */
const listed = (request: Request): ListedBackup[] =>
  [
    ...(request.app.deployment.backups?.list() ?? []).map((backup) => ({ ...backup, ...withoutSchedule })),
    ...scheduled(request),
  ].sort((a, b) => (a.created < b.created ? 1 : -1));

/** Returns the backup folder, for staff. Throws 403, 409. */
function folderOf(request: Request): BackupFolder {
  requireStaff(request);
  const { backups } = request.app.deployment;
  if (!backups) throw conflict('Data in memory has no backups.');
  return backups;
}

/** Returns the backup in the path. Throws 404 if the caller cannot see it. */
function find(request: Request): [BackupFolder, ListedBackup] {
  const { backups } = request.app.deployment;
  const backup = listed(request).find(({ uuid }) => uuid === request.params.key?.toLowerCase());
  if (!backups || !backup || !staff.may(request, undefined)) throw notFound();
  return [backups, backup];
}

/** Removes a scheduled backup from its target. Rejects with 409 and the reason. */
async function removeAt({ config }: Request, place: string, name: string): Promise<void> {
  try {
    await removeBackup(targetOf({ ...config, backup_target: place }), name);
  } catch (error) {
    throw conflict(`The backup cannot be removed: ${errorOf(error).message}.`);
  }
}

/** Logs the user who accesses a backup, which contains every secret, and names the backup in the audit record. */
function logAccess({ actor, app, address }: Request, { name, uuid }: Backup, message: string): void {
  app.trail.current?.about('backups', uuid, name);
  app.log.warn({ user: actor?.uuid, username: actor?.username, address, backup: name }, message);
}

function download(request: Request): Reply {
  const [folder, backup] = find(request);
  if (backup.state !== 'ready') throw conflict('The backup is not there yet.');
  if (backup.target === 's3') throw conflict('The backup is not on this machine.');
  if (request.incoming.method !== 'HEAD') logAccess(request, backup, 'a backup is downloaded');
  return streamed(
    backup.is_encrypted ? 'application/octet-stream' : 'application/gzip',
    (body) => {
      const file = createReadStream(
        backup.place === undefined ? folder.fileOf(backup) : join(backup.place, backup.name),
      );
      file.on('error', () => body.destroy());
      body.on('close', () => file.destroy());
      file.pipe(body);
    },
    {
      'Content-Disposition': `attachment; filename="${backup.name}${backup.place === undefined ? '.gz' : ''}"`,
      'Content-Length': String(backup.size),
    },
  );
}

/** All paths of backups (core.md 14.6). */
export const backupEndpoints: readonly Endpoint[] = [
  {
    path: '/api/backups/',
    name: 'Backup List',
    description: 'Copies of all data and its encryption keys, in the data folder.',
    actions: (request) => (staff.may(request, undefined) ? { POST: {} } : undefined),
    operations: {
      GET: {
        summary: 'Lists the backups, the latest first.',
        allowedFor: staff.allowedFor,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: shape } },
        rejections: { 403: true },
        handle: (request) => {
          requireStaff(request);
          return pageOfValues(request, listed(request), (backup) => represent(request, backup));
        },
      },
      POST: {
        summary: 'Starts to write a backup in a separate process.',
        allowedFor: staff.allowedFor,
        output: { status: 202, shape },
        rejections: { 409: true },
        isHandledOnce: true,
        isAlwaysAudited: true,
        handle: (request) => {
          const { app } = request;
          const started = folderOf(request).start(app, app.deployment.program);
          const backup = { ...started, ...withoutSchedule };
          logAccess(request, backup, 'a backup is written');
          return json(represent(request, backup), 202, { Location: urlOf(request, backup) });
        },
      },
    },
  },
  {
    path: '/api/backups/:key/',
    name: 'Backup Instance',
    description: 'A backup.',
    isVisible: (request) => staff.may(request, undefined) && find(request).length > 0,
    permittedMethods: (request) => (find(request).length > 0 ? ['DELETE'] : []),
    actions: (request) => void find(request),
    operations: {
      GET: {
        summary: 'Returns a backup.',
        allowedFor: staff.allowedFor,
        output: { status: 200, shape },
        handle: (request) => json(represent(request, find(request)[1])),
      },
      DELETE: {
        summary: 'Deletes a backup.',
        allowedFor: staff.allowedFor,
        output: { status: 204 },
        rejections: { 409: true },
        isHandledOnce: true,
        isAlwaysAudited: true,
        prepare: async (request) => {
          const [, backup] = find(request);
          request.checkPreconditions();
          if (backup.place !== undefined) await removeAt(request, backup.place, backup.name);
        },
        handle: (request) => {
          const [folder, backup] = find(request);
          if (backup.place === undefined) folder.delete(backup);
          else request.db.run(sql`DELETE FROM backup WHERE name = ${backup.name}`);
          logAccess(request, backup, 'a backup is deleted');
          return empty();
        },
      },
    },
  },
  {
    path: '/api/backups/:key/content/',
    name: 'Backup Content',
    description: 'The file of a backup.',
    actions: (request) => void find(request),
    operations: {
      GET: {
        summary: 'Downloads a backup. It contains every secret and the keys; the log records who downloads it.',
        allowedFor: staff.allowedFor,
        output: { status: 200, types: ['application/gzip', 'application/octet-stream'] },
        rejections: { 409: true },
        isWriting: true,
        isHandledOnce: true,
        isAlwaysAudited: true,
        handle: download,
      },
    },
  },
];
