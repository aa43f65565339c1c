/** GET /api/notifications/: the notifications of the caller (events.md 8.3). */
import { authenticated, visibleTo } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { readOnly, readOnlyText, readOnlyTime, uuidField } from '../../kernel/collection/field.ts';
import { flagFilter, oneOf, within } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { computedValue, timeValue, wordValue } from '../../kernel/collection/representation.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { empty } from '../../kernel/http/reply.ts';
import { namesOf } from '../../kernel/present.ts';
import { importances } from '../events/catalogue.ts';
import { kindNames, kindOf } from './catalogue.ts';
import { maxStored } from './daily-mails.ts';

interface NotificationRow extends Row {
  readonly user_id: number;
  readonly read: number | null;
}

const kindsForStaff = JSON.stringify(kindNames.filter((kind) => kindOf(kind).isForStaff));

/**
 * The newest notifications of the caller; a task removes older ones later. Hides notifications for staff where staff rights do
 * not apply.
 */
const own = visibleTo(
  'the user',
  ({ id: user, isRestricted }) => sql`
  n.user_id = ${user} AND n.id >= ifnull(
    (SELECT id FROM notification WHERE user_id = ${user} ORDER BY id DESC LIMIT 1 OFFSET ${maxStored - 1}), 0)
    AND ${isRestricted ? sql`n.kind NOT IN (SELECT value FROM json_each(${kindsForStaff}))` : raw('TRUE')}`,
);

export const notifications = collection<NotificationRow>()({
  path: 'notifications',
  kind: 'Notification',
  description: 'Notifications to the caller about failures, limits and upcoming expiries.',
  table: 'notification',
  alias: 'n',
  fields: {
    url: selfLink('notifications', 'n.uuid'),
    uuid: uuidField(),
    kind: readOnlyText((column) => wordValue(column, kindNames)),
    level: readOnlyText((column) => wordValue(column, namesOf(importances))),
    message: readOnlyText(),
    context: readOnly(
      'nested object',
      { type: 'object', additionalProperties: { type: 'string' } },
      computedValue('n.context'),
    ),
    created: readOnlyTime(),
    read: readOnlyTime(timeValue),
  },
  visible: own,
  filters: {
    kind: within(kindNames, oneOf('n.kind', 'Kind of the notification.')),
    unread: flagFilter('Only unread notifications.', () => raw('n.read IS NULL')),
  },
  orderings: {},
  order: '-n.id',
});

/** POST /api/notifications/<uuid>/read/ */
const read = action({
  on: notifications,
  name: 'read',
  summary: 'Marks a notification as read.',
  right: authenticated.as('the user'),
  output: { status: 204 },
  run: ({ db, now }, { id, read: since }) => {
    if (since === null) db.update('notification', id, { read: now });
    return empty();
  },
});

/** POST /api/notifications/read_all/ */
const readAll: Endpoint = {
  path: '/api/notifications/read_all/',
  name: 'Notification Read All',
  description: 'Marks all notifications of the caller as read.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Marks all notifications of the caller as read.',
      allowedFor: authenticated.allowedFor,
      output: { status: 204 },
      handle: ({ caller, db, now }) => {
        db.run(sql`UPDATE notification SET read = ${now} WHERE user_id = ${caller.id} AND read IS NULL`);
        return empty();
      },
    },
  },
};

export const notificationEndpoints: readonly Endpoint[] = [read.endpoint, readAll];
