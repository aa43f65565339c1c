/** /api/notification-preferences/: when the caller receives mails about each kind (events.md 8.4). */
import type { Request } from '../../kernel/access/request.ts';
import { authenticated } from '../../kernel/access/right.ts';
import { describeFields, type Endpoint, type Operation } from '../../kernel/collection/endpoint.ts';
import type { WritableField } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { choice } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { defaultPreference, kindNames, kindOf, type NotificationKind, preferences } from './catalogue.ts';

type PreferenceFields = Readonly<Record<string, WritableField<string, false>>>;

const names: Readonly<Record<(typeof preferences)[number], string>> = {
  none: 'No mail',
  immediate: 'At once',
  daily: 'Once a day',
};

const fieldsOf = (kinds: readonly NotificationKind[]): PreferenceFields =>
  Object.fromEntries(
    kinds.map((kind) => [
      kind,
      choice({ choices: () => preferences.map((value) => [value, names[value]] as const), storedIn: false }),
    ]),
  );

const allFields = fieldsOf(kindNames);
const fieldsOfOthers = fieldsOf(kindNames.filter((kind) => !kindOf(kind).isForStaff));

/** The kinds that the caller can receive. */
const ownFields = ({ caller }: Request): PreferenceFields => (caller.isStaff ? allFields : fieldsOfOthers);

const shape = {
  title: 'NotificationPreferences',
  type: 'object',
  properties: Object.fromEntries(kindNames.map((kind) => [kind, { type: 'string', enum: preferences }])),
  required: kindNames.filter((kind) => !kindOf(kind).isForStaff),
};

function show(request: Request): Reply {
  const chosen = new Map(
    request.db
      .all<{ kind: NotificationKind; preference: string }>(
        sql`SELECT kind, preference FROM notification_preference WHERE user_id = ${request.caller.id}`,
      )
      .map(({ kind, preference }) => [kind, preference]),
  );
  const kinds = kindNames.filter((kind) => Object.hasOwn(ownFields(request), kind));
  return json(Object.fromEntries(kinds.map((kind) => [kind, chosen.get(kind) ?? defaultPreference(kind)])));
}

/** Stores the preferences in a body. Other kinds keep theirs. */
function change(request: Request): Reply {
  const values = validate(ownFields(request), request, 'change');
  request.checkPreconditions();
  for (const [kind, preference = null] of Object.entries(values))
    request.db.run(sql`
      INSERT INTO notification_preference (user_id, kind, preference) VALUES (${request.caller.id}, ${kind}, ${preference})
      ON CONFLICT (user_id, kind) DO UPDATE SET preference = excluded.preference`);
  return show(request);
}

const writing = (summary: string): Operation => ({
  summary,
  allowedFor: authenticated.allowedFor,
  input: { fields: allFields, purpose: 'change', example: { alert_opened: 'immediate' } },
  output: { status: 200, shape },
  handle: change,
});

export const preferencesEndpoint: Endpoint = {
  path: '/api/notification-preferences/',
  name: 'Notification Preferences',
  description: 'When the caller gets mails about each kind of notification.',
  actions: (request) => ({ PUT: describeFields(ownFields(request), request, 'change') }),
  operations: {
    GET: {
      summary: 'Returns the preferences of the caller.',
      allowedFor: authenticated.allowedFor,
      output: { status: 200, shape },
      handle: show,
    },
    PUT: writing('Changes the preferences that the body names.'),
    PATCH: writing('Changes some preferences of the caller.'),
  },
};
