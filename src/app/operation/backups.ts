import { createReadStream } from 'node:fs';
import type { Request } from '../../kernel/access/request.ts';
import { staff } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape, uuidShape } from '../../kernel/collection/field.ts';
import { linkShape } from '../../kernel/collection/representation.ts';
import { conflict, notFound } from '../../kernel/http/error.ts';
import { empty, json, type Reply, streamed } from '../../kernel/http/reply.ts';
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
  }),
};

const urlOf = ({ base }: Request, { uuid }: Backup): string => `${base}/api/backups/${uuid}/`;

const represent = (request: Request, backup: Backup) => ({ url: urlOf(request, backup), ...backup });

/** Returns the backups of the deployment, for staff. Throws 403, 409. */
function folderOf(request: Request): BackupFolder {
  requireStaff(request);
  const { backups } = request.app.deployment;
  if (!backups) throw conflict('Data in memory has no backups.');
  return backups;
}

/** Returns the backup in the path. Throws 404 unless the caller can see it. */
function find(request: Request): [BackupFolder, Backup] {
  const { backups } = request.app.deployment;
  const backup = backups?.list().find(({ uuid }) => uuid === request.params.key?.toLowerCase());
  if (!backups || !backup || !staff.may(request, undefined)) throw notFound();
  return [backups, backup];
}

/** Logs who handles a backup, because a backup reveals every secret. */
function logAccess({ actor, app, address }: Request, { name }: Backup, message: string): void {
  app.log.warn({ user: actor?.uuid, username: actor?.username, address, backup: name }, message);
}

function download(request: Request): Reply {
  const [folder, backup] = find(request);
  if (backup.state !== 'ready') throw conflict('The backup is not there yet.');
  if (request.incoming.method !== 'HEAD') logAccess(request, backup, 'a backup is downloaded');
  return streamed(
    'application/gzip',
    (body) => {
      const file = createReadStream(folder.fileOf(backup));
      file.on('error', () => body.destroy());
      body.on('close', () => file.destroy());
      file.pipe(body);
    },
    { 'Content-Disposition': `attachment; filename="${backup.name}.gz"`, 'Content-Length': String(backup.size) },
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
          const backups = request.app.deployment.backups?.list() ?? [];
          return pageOfValues(request, backups, (backup) => represent(request, backup));
        },
      },
      POST: {
        summary: 'Starts to write a backup in a separate process.',
        allowedFor: staff.allowedFor,
        output: { status: 202, shape },
        rejections: { 409: true },
        isHandledOnce: true,
        handle: (request) => {
          const { app } = request;
          const backup = folderOf(request).start(app, app.deployment.program);
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
    shows: (request) => staff.may(request, undefined) && find(request).length > 0,
    permits: (request) => (find(request).length > 0 ? ['DELETE'] : []),
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
        handle: (request) => {
          const [folder, backup] = find(request);
          folder.delete(backup);
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
        output: { status: 200, types: ['application/gzip'] },
        rejections: { 409: true },
        handle: download,
      },
    },
  },
];
