import * as v from 'valibot';
import { staff } from '../../kernel/access/right.ts';
import type { Operation } from '../../kernel/collection/endpoint.ts';
import { inputOf, messages, type WritableField } from '../../kernel/collection/field.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { emptyAsNull } from '../../kernel/collection/links.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { choice, text } from '../../kernel/collection/values.ts';
import { json } from '../../kernel/http/reply.ts';
import { type ResolvedScope, resolveScope } from '../scopes/resolve.ts';
import type { Level } from './catalogue.ts';
import { record } from './record.ts';

/** Link of the notification's object. Null and empty mean none. */
const scope: WritableField<ResolvedScope | null, false> = {
  type: 'field',
  help: 'Link of an object the event is about.',
  constraints: {},
  shape: { type: 'string', format: 'uri' },
  input: inputOf(
    {},
    {
      schema: v.nullable(v.string(messages.string)),
      nullable: true,
      coerce: emptyAsNull,
      resolve: (link, request) => (link === null ? null : resolveScope(request, link.trim(), true)),
    },
  ),
};

const levels = ['debug', 'error', 'info', 'warning'] as const satisfies readonly Level[];

/** The body of a notification. */
export const notificationFields = {
  level: choice({ required: true, choices: () => levels.map((level) => [level, level] as const) }),
  message: text({ lines: 'many', required: true }),
  scope,
};

/** The right to post notifications. */
export const notifiers = staff;

/** POST /api/events/: records an event with a custom message (events.md 4.6). */
export const postNotification: Operation = {
  summary: 'Records a notification with a custom message.',
  allowedFor: notifiers.allowedFor,
  input: {
    fields: notificationFields,
    purpose: 'create',
    example: { level: 'info', message: 'Maintenance starts at 22:00.', scope: exampleLink('projects') },
  },
  output: {
    status: 201,
    shape: {
      type: 'object',
      properties: { level: { type: 'string' }, message: { type: 'string' }, scope: { type: 'string', format: 'uri' } },
      required: ['level', 'message'],
    },
  },
  handle: (request) => {
    notifiers.require(request, undefined);
    const { level, message, scope: about } = validate(notificationFields, request, 'create');
    const details = about
      ? { ...about.scope.scope(request.db, about.id), ...about.scope.own(request.db, about.id) }
      : {};
    record(request, 'custom_notification', details, { message, level });
    return json(
      { level, message, ...(about && { scope: `${request.base}/api/${about.scope.path}/${about.uuid}/` }) },
      201,
    );
  },
};
