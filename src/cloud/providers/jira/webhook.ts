import { createHash, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { type Field, FieldError, messageShape, messages, shown } from '../../../kernel/collection/field.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import { constant } from '../../../kernel/collection/representation.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { choice } from '../../../kernel/collection/values.ts';
import { among, sql } from '../../../kernel/db/sql.ts';
import { forbidden, invalid } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { queueNotice } from '../../entities/entities.ts';

/* POST /api/jira-webhook-receiver/: JIRA says that something has changed; what it is now is read from JIRA itself. */

const events = [
  'jira:issue_created',
  'jira:issue_updated',
  'jira:issue_deleted',
  'comment_created',
  'comment_updated',
  'comment_deleted',
];

/** An object of which one member is used, as text. */
const objectWith = (member: string, required: boolean): Field<string> => ({
  ...shown('nested object', { type: 'object' }, constant('null')),
  json: undefined,
  input: {
    schema: v.looseObject({ [member]: v.string() }),
    nullable: false,
    required,
    create: true,
    update: false,
    parse: (value) => {
      const given =
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[member] : undefined;
      if ((typeof given !== 'string' && typeof given !== 'number') || given === '')
        throw new FieldError([messages.required]);
      return String(given);
    },
  },
});

const fields = {
  webhookEvent: choice({ required: true, choices: () => events.map((event) => [event, event] as const) }),
  issue: objectWith('key', true),
  comment: objectWith('id', false),
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Ids of the JIRA settings with this secret. Every secret is compared, and in constant time: an answer tells nothing of them. */
function settingsWith({ db, deployment, query }: Request): number[] {
  const given = digest(query.one('secret') ?? '');
  const rows = db.all<{ id: number; uuid: string; secret_options: Uint8Array }>(
    sql`SELECT id, uuid, secret_options FROM service_settings WHERE type = 'JIRA' AND secret_options IS NOT NULL`,
  );
  return rows.flatMap(({ id, secret_options: sealed, uuid }) => {
    const { webhook_secret: secret } = JSON.parse(deployment.secrets.open(sealed, uuid)) as { webhook_secret?: string };
    return secret !== undefined && timingSafeEqual(digest(secret), given) ? [id] : [];
  });
}

interface Known {
  readonly project: number;
  readonly project_key: string;
  readonly settings: number;
  readonly issue: number | null;
}

/** The projects that an issue with this key belongs to, with the issue where it is known. */
const knownBy = ({ db }: Request, settings: readonly number[], key: string): Known[] =>
  db.all<Known>(sql`SELECT r.id AS project, r.backend_id AS project_key, r.settings_id AS settings, i.id AS issue
    FROM resource r LEFT JOIN jira_issue i ON i.jira_project_id = r.id AND i.backend_id = ${key}
    WHERE r.kind = 'JIRA.Project' AND r.backend_id = ${/^(.+)-\d+$/.exec(key)?.[1] ?? null} AND ${among('r.settings_id', settings)}`);

function receive(request: Request): Reply {
  const settings = settingsWith(request);
  if (settings.length === 0) throw forbidden();
  const {
    comment,
    issue: key,
    webhookEvent: event,
  } = validate(fields, request, 'create') as { comment?: string; issue: string; webhookEvent: string };
  const isComment = event.startsWith('comment_');
  if (isComment && comment === undefined) throw invalid({ comment: [messages.required] });
  const projects = knownBy(request, settings, key);
  if (projects.length === 0) throw invalid({ issue: [`Project of issue ${key} is unknown.`] });
  const known = event === 'jira:issue_created' ? projects : projects.filter(({ issue }) => issue !== null);
  if (known.length === 0) throw invalid({ issue: [`Issue ${key} is unknown.`] });
  for (const { issue, project, project_key: parent, settings: id } of known) {
    if (isComment)
      queueNotice(request, 'JIRA.Comment', id, { owner: issue as number, parent: key, backendId: comment as string });
    else queueNotice(request, 'JIRA.Issue', id, { owner: project, parent, backendId: key });
  }
  return json({ detail: 'Webhook was accepted.' }, 201);
}

/** The receiver of JIRA's webhooks; its secret stands in the query, which is never logged. */
export const webhookReceiver: Endpoint = {
  path: '/api/jira-webhook-receiver/',
  name: 'JIRA Webhook Receiver',
  description: 'Where JIRA says that issues and comments have changed.',
  open: true,
  operations: {
    POST: {
      summary: 'Receives a webhook of JIRA.',
      who: 'Whoever knows the webhook_secret of JIRA settings, given as ?secret=.',
      filters: { secret: parameter('string', 'The webhook_secret of the settings.') },
      input: { fields, purpose: 'create', example: { webhookEvent: 'jira:issue_updated', issue: { key: 'WEB-1' } } },
      output: { status: 201, shape: messageShape },
      refusals: { 403: true },
      handle: receive,
    },
  },
};
