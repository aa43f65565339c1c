import { operators, staff } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { readOnly, readOnlyText, readOnlyTime, uuidField } from '../../kernel/collection/field.ts';
import { oneOf, partial, within } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { numberValue, textValue, timeValue, wordValue } from '../../kernel/collection/representation.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { changed } from '../../kernel/http/reply.ts';
import type { OutboxName } from '../../kernel/outbox/delivery-worker.ts';
import { outboxes, outboxNames } from './readings.ts';
import { visibleToOperators } from './requests.ts';

const kinds = ['web', 'push', 'email'];

interface Message extends Row {
  readonly outbox: OutboxName;
  /** Id in the table behind the outbox. */
  readonly row: number;
  readonly queue: number;
}

/** GET /api/outbox/ (core.md 14.6) */
export const outbox = collection<Message>()({
  path: 'outbox',
  kind: 'Outbox Message',
  noun: 'message',
  description: 'Pending deliveries of hooks and pending mails.',
  table: 'outbox_message',
  alias: 'm',
  fields: {
    url: selfLink('outbox', 'm.uuid'),
    uuid: uuidField(),
    outbox: readOnlyText((column) => wordValue(column, outboxNames)),
    kind: readOnlyText((column) => wordValue(column, kinds)),
    subject: readOnlyText(textValue('m.subject', { type: 'string' })),
    receiver: readOnlyText(textValue('m.receiver')),
    attempts: readOnly('integer', { type: 'integer' }, numberValue),
    response_code: readOnly('integer', { type: ['integer', 'null'] }, numberValue),
    error_message: readOnlyText(),
    created: readOnlyTime(),
    last_attempt: readOnlyTime(timeValue),
    next_attempt: readOnlyTime(timeValue),
  },
  visible: visibleToOperators,
  page: {
    rejections: { 403: true },
    run: (request, listing) => {
      operators.require(request, undefined);
      // With a condition, the listing does not use cached counts, which do not exist for views.
      return listing.page(request, [raw('m.attempts >= 0')]);
    },
  },
  filters: {
    outbox: within(outboxNames, oneOf('m.outbox', `One of ${outboxNames.join(', ')}.`)),
    kind: within(kinds, oneOf('m.kind', 'One of web, push, email.')),
    receiver: partial('m.receiver'),
  },
  orderings: { created: 'm.created', attempts: 'm.attempts', next_attempt: 'm.next_attempt' },
  order: 'm.created',
});

const retry = action({
  on: outbox,
  name: 'retry',
  summary: 'Sends a message now, without waiting for the next attempt.',
  right: staff,
  output: { status: 202, shape: outbox.shape },
  run: (request, { id, outbox: name, queue, row }) => {
    const { app, db, now } = request;
    const ready = name === 'hooks' ? raw(', ready = 1') : raw('');
    db.run(sql`UPDATE ${raw(outboxes[name].table)} SET next_attempt = ${now}${ready} WHERE id = ${row}`);
    db.onceStored(() => app.wakeOutbox(name, [queue]));
    return { ...changed(outbox.represent(request, id)), status: 202 };
  },
});

export const retryMessage = retry.endpoint;
