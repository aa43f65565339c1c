/** GET /api/audit/: the records of the audit trail (audit.md 4). */
import type { Caller } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { right } from '../../kernel/access/right.ts';
import { ownsSomeCustomer } from '../../kernel/access/rights.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape, uuidShape } from '../../kernel/collection/field.ts';
import { exactUuid, type Filters, instant, oneOf, parameter, uuid, within } from '../../kernel/collection/filter.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { all, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { type Reply, secret } from '../../kernel/http/reply.ts';

/** Maximum number of records to scan per page. A page may have fewer records than requested and still not be the last. */
const maxScanned = 50_000;
const defaultSize = 10;
const maxSize = 300;

const nullable = (shape: JsonSchema): JsonSchema => ({ anyOf: [shape, { type: 'null' }] });
const text: JsonSchema = { type: 'string' };
const hashShape: JsonSchema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const identified = objectShape({ kind: text, uuid: nullable(uuidShape) });

/** A record in responses (audit.md 1). */
const recordShape: JsonSchema = {
  title: 'AuditRecord',
  ...objectShape({
    chain: uuidShape,
    sequence: { type: 'integer' },
    previous: hashShape,
    at: { type: 'string', format: 'date-time' },
    operation: text,
    outcome: { type: 'string', enum: ['done', 'refused'] },
    status: { type: ['integer', 'null'] },
    repeated: { type: ['integer', 'null'] },
    request_id: { type: ['string', 'null'] },
    actor: identified,
    via: nullable(identified),
    as: nullable(uuidShape),
    object: nullable(objectShape({ type: text, uuid: text })),
    customers: { type: 'array', items: uuidShape },
    projects: { type: 'array', items: uuidShape },
    private_hash: hashShape,
    private: nullable(
      objectShape({
        salt: text,
        actor_name: { type: ['string', 'null'] },
        object_name: { type: ['string', 'null'] },
        address: { type: ['string', 'null'] },
        changes: { type: 'array', items: objectShape({ field: text, from: {}, to: {} }) },
      }),
    ),
    hash: hashShape,
  }),
};

interface RecordRow {
  readonly id: number;
  readonly record: string;
  readonly private: string | null;
  readonly hash: string;
  /** Also 1 for a deleted user, who may have been staff. */
  readonly by_staff: number;
}

/** The right to read the trail or, for owners, the records about their customers. */
export const auditReaders = right(
  'staff; owners for records that name a customer of theirs',
  ({ caller, db }) => caller.isStaff || ownsSomeCustomer(db, caller),
);

/** Condition: a column with space-separated uuids contains this one. */
const names = (column: Sql, value: string): Sql => sql`instr(${column}, ${value}) > 0`;

const filters: Filters = {
  actor: exactUuid('r.actor', 'Uuid of the user who made the change.'),
  object: exactUuid('r.object', 'Uuid of the changed object.'),
  customer: uuid('Uuid of a customer that the record names.', (value) => names(sql`r.customers`, value)),
  project: uuid('Uuid of a project that the record names.', (value) => names(sql`r.projects`, value)),
  chain: uuid('Uuid of a chain.', (value) => sql`r.chain_id = (SELECT id FROM audit_chain WHERE uuid = ${value})`),
  operation: oneOf('r.operation', 'Operation id, command, or kind of job.'),
  outcome: within(['done', 'refused'], oneOf('r.outcome', 'done or refused.')),
  from: instant('r.at', '>='),
  to: instant('r.at', '<='),
};

/** Condition: the caller may read a record. Owners may read records about customers that they currently own. */
const readable = ({ caller }: { readonly caller: Caller }): Sql =>
  caller.isStaff
    ? sql`TRUE`
    : sql`EXISTS (SELECT 1 FROM active_customer_role o JOIN customer c ON c.id = o.customer_id
        WHERE o.user_id = ${caller.id} AND o.role = 'owner' AND instr(r.customers, c.uuid) > 0)`;

/** Returns the id in `before`; undefined without the parameter. Throws 400. */
function idBefore({ db, query }: Request): number | undefined {
  const value = query.one('before');
  if (value === undefined) return undefined;
  const [, chain = '', sequence = ''] = /^([0-9a-f]{32}):(\d{1,15})$/.exec(value) ?? [];
  const first = db.value<number>(sql`SELECT first_id FROM audit_chain WHERE uuid = ${chain}`);
  if (first === undefined) throw invalid({ before: [`"${value}" is not a valid choice.`] });
  return first + Number(sequence) - 1;
}

/** Represents a record with its private part. Hides the addresses of staff from owners. */
function represent({ hash, record, private: hidden, by_staff: byStaff }: RecordRow, caller: Caller): object {
  const { chain, sequence, previous, at, operation, outcome, ...others } = JSON.parse(record);
  const { status, repeated, request_id, actor, via, as, object, customers, projects, private_hash } = others;
  const shown = hidden === null ? null : ordered(JSON.parse(hidden));
  if (shown && byStaff && !caller.isStaff) shown.address = null;
  return {
    ...{ chain, sequence, previous, at, operation, outcome, status, repeated, request_id, actor, via, as, object },
    ...{ customers, projects, private_hash, private: shown, hash },
  };
}

interface Private {
  readonly salt: string;
  readonly actor_name: string | null;
  readonly object_name: string | null;
  address: string | null;
  readonly changes: readonly unknown[];
}

const ordered = ({ salt, actor_name, object_name, address, changes }: Private): Private => ({
  salt,
  actor_name,
  object_name,
  address,
  changes,
});

function list(request: Request): Reply {
  auditReaders.require(request, undefined);
  const { caller, db, query, url } = request;
  const size = Math.min(query.integer('page_size', 1, Number.MAX_SAFE_INTEGER) ?? defaultSize, maxSize);
  const conditions = Object.entries(filters).flatMap(([name, { condition }]) => condition(request, name) ?? []);
  const newest = db.value<number>(sql`SELECT max(id) FROM audit_record`) ?? 0;
  const end = Math.min(idBefore(request) ?? newest + 1, newest + 1);
  const start = end - maxScanned;
  const rows = db.deferrableAll<RecordRow>(sql`
    SELECT r.id, r.record, r.private, r.hash,
      NOT EXISTS (SELECT 1 FROM user u WHERE u.uuid = r.actor AND NOT u.is_staff) AS by_staff
    FROM audit_record r
    WHERE r.id < ${end} AND r.id >= ${start} AND ${all([...conditions, readable({ caller })])}
    ORDER BY r.id DESC LIMIT ${size}`);
  const last = rows.length === size ? rows.at(-1)?.id : start;
  const next =
    last !== undefined &&
    db.get<{ chain: string; sequence: number }>(sql`
      SELECT c.uuid AS chain, r.sequence FROM audit_record r JOIN audit_chain c ON c.id = r.chain_id
      WHERE r.id = ${last} AND EXISTS (SELECT 1 FROM audit_record WHERE id < ${last})`);
  const body = JSON.stringify(rows.map((row) => represent(row, caller)));
  if (!next) return secret(body);
  const [before, after] = query.around('before');
  const search = [before, `before=${next.chain}:${next.sequence}`, after].filter((part) => part !== '').join('&');
  return secret(body, { Link: `<${url}?${search}>; rel="next"` });
}

export const auditTrail: Endpoint = {
  path: '/api/audit/',
  name: 'Audit Record List',
  description: 'The audit trail: who changed what, by which operation.',
  operations: {
    GET: {
      summary:
        'Lists audit records, newest first, without a total. `Link` has the next page, even if this one is short.',
      allowedFor: auditReaders.allowedFor,
      filters: {
        ...filters,
        page_size: parameter('integer', 'Number of records, at most 300; default: 10.'),
        before: parameter('string', 'Only older records: `<chain>:<sequence>`, from `Link`.'),
      },
      output: { status: 200, shape: { type: 'array', items: recordShape } },
      rejections: { 403: true },
      handle: list,
    },
  },
};
