import { createHash, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import {
  inputOf,
  messageShape,
  messages,
  optional,
  readOnly,
  type WritableField,
} from '../../../kernel/collection/field.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import { constant } from '../../../kernel/collection/representation.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { choice, numberAsText } from '../../../kernel/collection/values.ts';
import { among, sql } from '../../../kernel/db/sql.ts';
import { forbidden, invalid, tooMany } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { prefixOf } from '../../../kernel/net/networks.ts';
import { present } from '../../../kernel/present.ts';
import { RateLimit } from '../../../kernel/security/rate-limit.ts';
import { queueNotice } from '../../entities/entities.ts';

declare module '../../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    readonly webhookFailures: RateLimit;
  }
}

/** Limits webhooks from an address prefix after wrong secrets. */
export const newWebhookFailureLimit = (): RateLimit => new RateLimit(20, minute);

/* POST /api/jira-webhook-receiver/: JIRA reports a change; the current state is then read from JIRA. */

const events = [
  'jira:issue_created',
  'jira:issue_updated',
  'jira:issue_deleted',
  'comment_created',
  'comment_updated',
  'comment_deleted',
];

/** An object with one used member, read as text; numbers are accepted. */
const objectWith = (member: string): WritableField<string, true> => ({
  ...readOnly('nested object', { type: 'object' }, constant('null')),
  json: undefined,
  input: inputOf(
    { required: true, update: false },
    {
      schema: v.looseObject(
        {
          [member]: v.pipe(
            v.string(messages.required),
            v.check((text) => text !== '', messages.required),
          ),
        },
        messages.required,
      ),
      // If the value is not an object, the error is about the member.
      coerce: (value) => {
        const content = v.is(v.looseObject({ [member]: v.unknown() }), value) ? value[member] : undefined;
        return { [member]: numberAsText(content) };
      },
      resolve: ({ [member]: text = '' }) => text,
    },
  ),
});

const fields = {
  webhookEvent: choice({ required: true, choices: () => events.map((event) => [event, event] as const) }),
  issue: objectWith('key'),
  comment: optional(objectWith('id')),
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The secret of a request: from the header, or from the query because JIRA can only be configured with a URL. */
function givenSecret({ incoming: { headers }, query }: Request): string {
  const inHeader = headers['x-hook-secret'];
  return typeof inHeader === 'string' ? inHeader : (query.one('secret') ?? '');
}

/** Ids of the JIRA settings with this secret. Compares all secrets in constant time, so that timing reveals nothing. */
function settingsWith({ db, app }: Request, secretGiven: string): number[] {
  const expected = digest(secretGiven);
  const rows = db.all<{ id: number; uuid: string; secret_options: Uint8Array }>(
    sql`SELECT id, uuid, secret_options FROM service_settings WHERE type = 'JIRA' AND secret_options IS NOT NULL`,
  );
  return rows.flatMap(({ id, secret_options: sealed, uuid }) => {
    const { webhook_secret: secret }: { readonly webhook_secret?: string } = JSON.parse(app.secrets.open(sealed, uuid));
    return secret !== undefined && timingSafeEqual(digest(secret), expected) ? [id] : [];
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
  db.all<Known>(sql`
    SELECT r.id AS project, r.backend_id AS project_key, r.settings_id AS settings, i.id AS issue
    FROM resource r
    LEFT JOIN jira_issue i ON i.jira_project_id = r.id AND i.backend_id = ${key}
    WHERE r.kind = 'JIRA.Project' AND r.backend_id = ${/^(.+)-\d+$/.exec(key)?.[1] ?? null}
      AND ${among('r.settings_id', settings)}`);

/** Ids of the settings that sent a request. Throws 403, and 429 after too many wrong secrets, even for a correct one. */
function senders(request: Request): readonly number[] {
  const { app, now } = request;
  const prefix = prefixOf(request.address);
  const wait = app.limits.webhookFailures.wait(prefix, now);
  if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
  const settings = settingsWith(request, givenSecret(request));
  if (settings.length > 0) return settings;
  app.limits.webhookFailures.denial(prefix, now);
  throw forbidden();
}

function receive(request: Request): Reply {
  const settings = senders(request);
  const { comment, issue: key, webhookEvent: event } = validate(fields, request, 'create');
  const isComment = event.startsWith('comment_');
  if (isComment && comment === undefined) throw invalid({ comment: [messages.required] });
  const projects = knownBy(request, settings, key);
  if (projects.length === 0) throw invalid({ issue: [`Project of issue ${key} is unknown.`] });
  const known = event === 'jira:issue_created' ? projects : projects.filter(({ issue }) => issue !== null);
  if (known.length === 0) throw invalid({ issue: [`Issue ${key} is unknown.`] });
  for (const { issue, project, project_key: parent, settings: id } of known) {
    if (isComment)
      queueNotice(request, 'JIRA.Comment', id, { owner: present(issue), parent: key, backendId: present(comment) });
    else queueNotice(request, 'JIRA.Issue', id, { owner: project, parent, backendId: key });
  }
  return json({ detail: 'Webhook was accepted.' }, 201);
}

/** The receiver of JIRA's webhooks. The secret is in the query, which is never logged. */
export const webhookReceiver: Endpoint = {
  path: '/api/jira-webhook-receiver/',
  name: 'JIRA Webhook Receiver',
  description: 'Receives notifications of changed issues and comments from JIRA.',
  open: true,
  admit: senders,
  operations: {
    POST: {
      summary: 'Receives a webhook of JIRA.',
      unaudited: 'It synchronises values from the provider.',
      allowedFor: 'Any caller with the webhook_secret of JIRA settings, in the header X-Hook-Secret or as ?secret=.',
      filters: {
        secret: parameter('string', 'The webhook_secret of the settings; not needed with the header X-Hook-Secret.'),
      },
      input: { fields, purpose: 'create', example: { webhookEvent: 'jira:issue_updated', issue: { key: 'WEB-1' } } },
      // JIRA sends the whole issue and adds query parameters about its user.
      takesAnything: true,
      output: { status: 201, shape: messageShape },
      rejections: { 403: true, 429: true },
      // Handling counts wrong secrets.
      isHandledOnce: true,
      handle: receive,
    },
  },
};
