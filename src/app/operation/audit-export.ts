/** GET /api/audit/export/: the audit trail as NDJSON with a signed head, and GET /api/audit/key/: the keys that sign heads (audit.md 5, 6). */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ExportRange, exportLines } from '../../activity/audit/export.ts';
import type { Request } from '../../kernel/access/request.ts';
import { staff } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json, type Reply, streamed } from '../../kernel/http/reply.ts';
import { codeOf } from '../../kernel/present.ts';
import { auditReaders } from './audit-trail.ts';
import { requireStaff } from './requests.ts';

const ndjson = 'application/x-ndjson';

/** Returns the range in the query. Without a chain, sequences refer to the newest chain. Throws 400. */
function rangeOf({ db, query }: Request): ExportRange {
  const named = query.uuid('chain');
  if (named !== undefined && db.value(sql`SELECT 1 FROM audit_chain WHERE uuid = ${named}`) === undefined)
    throw invalid({ chain: [`"${named}" is not a valid choice.`] });
  const first = query.integer('first', 1, Number.MAX_SAFE_INTEGER);
  const last = query.integer('last', first ?? 1, Number.MAX_SAFE_INTEGER);
  const isLimited = first !== undefined || last !== undefined;
  const chain = named ?? (isLimited ? db.value<string>(sql`SELECT uuid FROM audit_chain ORDER BY id DESC`) : undefined);
  return { chain, first, last };
}

function download(request: Request): Reply {
  requireStaff(request);
  const range = rangeOf(request);
  const { actor, address, app, incoming } = request;
  if (incoming.method !== 'HEAD')
    app.log.warn({ user: actor?.uuid, username: actor?.username, address }, 'audit trail downloaded');
  return streamed(
    ndjson,
    (body) =>
      // An error destroys the body, so that the client notices the incomplete export.
      void pipeline(Readable.from(exportLines(app, range)), body).catch((error: unknown) => {
        if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE')
          app.log.warn({ err: error }, 'failed to export the audit trail');
      }),
    { 'Content-Disposition': 'attachment; filename="audit.ndjson"' },
  );
}

export const auditExport: Endpoint = {
  path: '/api/audit/export/',
  name: 'Audit Export',
  description: 'The audit trail in the format that `tenantry audit verify` checks.',
  operations: {
    GET: {
      summary:
        'Returns the records in their order, one per line, between a `checkpoint` (if older records were removed) and a signed `head`.',
      allowedFor: staff.allowedFor,
      filters: {
        chain: parameter('string', 'Only the records of this chain.'),
        first: parameter('integer', 'The first sequence, in `chain` or the newest chain.'),
        last: parameter('integer', 'The last sequence, in `chain` or the newest chain.'),
      },
      output: { status: 200, types: [ndjson] },
      rejections: { 403: true },
      isWriting: true,
      isHandledOnce: true,
      isAlwaysAudited: true,
      handle: download,
    },
  },
};

interface KeyRow {
  readonly key: string;
  readonly public_key: string;
  readonly created: number;
}

const text = { type: 'string' };

export const auditKeys: Endpoint = {
  path: '/api/audit/key/',
  name: 'Audit Key List',
  description: 'The public keys that verify heads of the audit trail.',
  operations: {
    GET: {
      summary: 'Lists the keys that have signed heads, the oldest first: Ed25519 public keys, 32 bytes in base64.',
      allowedFor: auditReaders.allowedFor,
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: {
            title: 'AuditKey',
            ...objectShape({ key: text, public_key: text, from: { type: 'string', format: 'date-time' } }),
          },
        },
      },
      rejections: { 403: true },
      handle: (request) => {
        auditReaders.require(request, undefined);
        const keys = request.db.all<KeyRow>(sql`SELECT key, public_key, created FROM audit_key ORDER BY id`);
        return json(keys.map(({ created, key, public_key }) => ({ key, public_key, from: isoTime(created) })));
      },
    },
  },
};
