import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import type { Operation } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { type Field, FieldError, messages } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { choice, text } from '../../kernel/collection/values.ts';
import { forbidden } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { type ResolvedScope, resolveScope } from '../scopes/resolve.ts';
import type { Level } from './catalogue.ts';
import { record } from './record.ts';

/** The link of an object the notification is about; null and empty mean none. */
const scope: Field<ResolvedScope | null> = {
  type: 'field',
  help: 'Link of an object the event is about.',
  facts: {},
  shape: { type: 'string', format: 'uri' },
  input: {
    schema: v.nullable(v.string()),
    nullable: true,
    required: false,
    create: true,
    update: true,
    parse: (value, request) => {
      if (value === null || value === '') return null;
      if (typeof value !== 'string') throw new FieldError([messages.string]);
      return resolveScope(request, value.trim(), true);
    },
  },
};

const levels = ['debug', 'error', 'info', 'warning'] as const satisfies readonly Level[];

/** The body of a notification. */
export const notificationFields = {
  level: choice({ required: true, choices: () => levels.map((level) => [level, level] as const) }),
  message: text({ required: true }),
  scope,
};

/** Whether the caller may post notifications. */
export const mayNotify = ({ caller }: Request): boolean => caller.isStaff;

/** POST /api/events/: an event with a text of one's own (events.md 4.6). */
export const postNotification: Operation = {
  summary: 'Records a notification with a message of your own.',
  who: 'Staff.',
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
    if (!mayNotify(request)) throw forbidden();
    const { level, message, scope: about } = validate(notificationFields, request, 'create');
    const details = about
      ? { ...about.scope.scope(request.db, about.id), ...about.scope.own(request.db, about.id) }
      : {};
    record(request, 'custom_notification', details, { message: message as string, level: level as Level });
    return json(
      { level, message, ...(about && { scope: `${request.base}/api/${about.scope.path}/${about.uuid}/` }) },
      201,
    );
  },
};
