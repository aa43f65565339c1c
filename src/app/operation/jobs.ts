import { immediately } from '../../cloud/operations/jobs.ts';
import { operators, staff } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { readOnly, readOnlyText, readOnlyTime } from '../../kernel/collection/field.ts';
import { exact, oneOf, uuidOf, within } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import {
  booleanValue,
  computedValue,
  linkValue,
  numberValue,
  textValue,
  timeValue,
  wordValue,
} from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { changed } from '../../kernel/http/reply.ts';
import { visibleToOperators } from './requests.ts';

const states = ['running', 'waiting', 'failing'];

/** A job with a lease is running. A job whose last call failed is waiting for its retry. */
const state = `iif(ifnull(j.lease, 0) > 0, 'running', iif(j.error_message <> '', 'failing', 'waiting'))`;

/** Maximum number of memo values to show. */
const maxMemoValues = 50;

/** The values of a memo by path, except potential secrets. */
const memo = `(
  SELECT json_group_object(substr(fullkey, 3), atom) FROM (
    SELECT fullkey, atom FROM json_tree(j.memo)
    WHERE atom IS NOT NULL AND fullkey <> '$' ${['pass', 'secret', 'token', 'credential', 'private', 'user_data', 'key']
      .map((word) => `AND fullkey NOT LIKE '%${word.replace('_', '\\_')}%' ESCAPE '\\'`)
      .join(' ')}
    LIMIT ${maxMemoValues}))`;

const columnOf = (column: string, id: string, table: string): string =>
  `(SELECT ${column} FROM ${table} WHERE id = ${id})`;

interface WaitingJob extends Row {
  readonly lease: number | null;
}

/** GET /api/jobs/ (core.md 14.6) */
export const jobs = collection<WaitingJob>()({
  path: 'jobs',
  kind: 'Job',
  description: 'Operations at providers that are running or scheduled.',
  table: 'job',
  alias: 'j',
  key: 'pk',
  fields: {
    url: selfLink('jobs', 'j.id'),
    pk: readOnly('integer', { type: 'integer' }, numberValue('j.id', { type: 'integer' })),
    operation: readOnlyText(),
    state: readOnlyText(wordValue(state, states)),
    resource_type: readOnlyText(
      textValue(`ifnull((SELECT kind FROM resource WHERE id = j.resource_id), j.entity_kind)`),
    ),
    resource_name: readOnlyText(textValue(columnOf('name', 'j.resource_id', 'resource'))),
    resource_uuid: readOnlyText(textValue(columnOf('uuid', 'j.resource_id', 'resource'))),
    settings: readOnly(
      'field',
      { type: 'string', format: 'uri' },
      linkValue('service-settings', columnOf('uuid', 'j.settings_id', 'service_settings')),
    ),
    settings_name: readOnlyText(textValue(columnOf('name', 'j.settings_id', 'service_settings'), { type: 'string' })),
    settings_type: readOnlyText(textValue(columnOf('type', 'j.settings_id', 'service_settings'), { type: 'string' })),
    caused_by: readOnlyText(textValue(`j.actor ->> 'username'`)),
    attempts: readOnly('integer', { type: 'integer' }, numberValue('j.retries', { type: 'integer' })),
    error_message: readOnlyText(),
    memo: readOnly(
      'nested object',
      { type: 'object' },
      computedValue(memo, { type: 'object', additionalProperties: true }),
    ),
    has_secrets: readOnly('boolean', { type: 'boolean' }, booleanValue('j.secrets IS NOT NULL')),
    created: readOnlyTime(),
    started: readOnlyTime(timeValue),
    next_attempt: readOnlyTime(() => timeValue(`iif(j.due = ${immediately}, NULL, j.due)`)),
  },
  visible: visibleToOperators,
  page: {
    rejections: { 403: true },
    run: (request, listing) => {
      operators.require(request, undefined);
      return listing.page(request, []);
    },
  },
  filters: {
    state: within(states, oneOf(state, `One of ${states.join(', ')}.`)),
    operation: exact('j.operation'),
    settings_uuid: uuidOf('j.settings_id', 'service_settings', 'Uuid of the provider account.'),
    resource_uuid: uuidOf('j.resource_id', 'resource', 'Uuid of the resource.'),
  },
  orderings: { created: 'j.created', next_attempt: 'j.due', attempts: 'j.retries' },
  order: 'j.created',
});

const run = action({
  on: jobs,
  name: 'run',
  summary: 'Runs a waiting job now.',
  right: staff,
  denialReason: (_, { lease }) => ((lease ?? 0) > 0 ? 'Job is running.' : undefined),
  output: { status: 202, shape: jobs.shape },
  run: (request, { id }) => {
    const { db, now } = request;
    db.run(sql`UPDATE job SET due = ${now} WHERE id = ${id}`);
    return { ...changed(jobs.represent(request, id)), status: 202 };
  },
});

export const runJob = run.endpoint;
