import type { Request } from '../../kernel/access/request.ts';
import { action } from '../../kernel/collection/action.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { readOnly, readOnlyText, readOnlyTime, uuidField } from '../../kernel/collection/field.ts';
import { oneOf, within } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { Listing, type ListSpec } from '../../kernel/collection/listing.ts';
import { linkValue, numberValue, textValue, timeValue, wordValue } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, notFound } from '../../kernel/http/error.ts';
import { document, type Reply } from '../../kernel/http/reply.ts';
import { userContext } from '../events/context.ts';
import { type HookRow, hookManagers, visibleHooks } from './hook.ts';
import { webHooks } from './hooks-web.ts';
import { httpDetailFields, httpDetailsOf } from './http-details.ts';
import { queueAgain, queueTest } from './queue.ts';
import { webhookSpecs } from './webhook-schemas.ts';

/** Statuses of deliveries to webhooks (events.md 5.9). */
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'canceled'] as const;

/** The type of a delivery: an event type or a kind of notification. */
const messageTypes = webhookSpecs.map(({ name }) => name);

const shared = {
  title: 'WebHookDelivery',
  table: 'delivery',
  alias: 'd',
  fields: {
    url: selfLink('hooks-web', "concat((SELECT uuid FROM hook WHERE id = d.hook_id), '/deliveries/', d.uuid)"),
    uuid: uuidField(),
    hook: readOnly(
      'field',
      { type: 'string', format: 'uri' },
      linkValue('hooks-web', '(SELECT uuid FROM hook WHERE id = d.hook_id)'),
    ),
    event_uuid: readOnlyText(textValue('(SELECT uuid FROM event WHERE id = d.event_id)')),
    event_type: readOnlyText((column) => wordValue(column, messageTypes)),
    status: readOnlyText((column) => wordValue(column, deliveryStatuses)),
    attempts: readOnly('integer', { type: 'integer' }, numberValue),
    response_code: readOnly('integer', { type: ['integer', 'null'] }, numberValue),
    error_message: readOnlyText(),
    created: readOnlyTime(),
    last_attempt: readOnlyTime(timeValue),
    next_attempt: readOnlyTime(timeValue),
    delivered: readOnly(
      'datetime',
      { type: ['string', 'null'], format: 'date-time' },
      timeValue("iif(d.status = 'delivered', d.finished, NULL)"),
    ),
  },
  filters: {
    status: within(deliveryStatuses, oneOf('d.status', 'pending, delivered, failed or canceled.')),
    event_type: within(messageTypes, oneOf('d.event_type', 'Type of the event.')),
  },
  orderings: {},
  order: '-d.id',
} satisfies ListSpec;

const log = new Listing(shared);

/** A single delivery with its request and response. */
const deliveryDetails = new Listing({
  ...shared,
  title: 'WebHookDeliveryInstance',
  fields: { ...shared.fields, ...httpDetailFields },
});

/** Returns the hook's delivery in the path. Throws 404. */
function find({ db, params }: Request, hook: HookRow): { id: number; status: string } {
  const uuid = params.delivery ?? '';
  const row = /^[0-9a-f]{32}$/i.test(uuid)
    ? db.get<{ id: number; status: string }>(sql`
        SELECT id, status FROM delivery
        WHERE uuid = ${uuid.toLowerCase()} AND hook_id = ${hook.id}`)
    : undefined;
  if (!row) throw notFound();
  return row;
}

/** Responds with 202 and the queued delivery. */
const accepted = (request: Request, id: number): Reply => ({
  status: 202,
  body: log.representOne(request, id),
  type: 'application/json',
  headers: {},
  conditional: false,
});

/** Returns why the hook receives nothing: the hook or its author is inactive. */
export const inactiveReason = ({ db }: Request, hook: HookRow): string | undefined =>
  db.value(sql`
    SELECT 1 FROM hook h JOIN user u ON u.id = h.user_id
    WHERE h.id = ${hook.id} AND h.is_active AND u.is_active`) === undefined
    ? 'Hook is not active.'
    : undefined;

const testMessage = 'Test delivery of the hook.';

const test = action({
  on: webHooks,
  name: 'test',
  summary: 'Queues the delivery of a synthetic custom_notification.',
  description: 'Sends a synthetic event to a web hook.',
  right: hookManagers,
  denialReason: inactiveReason,
  output: { status: 202, shape: log.shape },
  run: (request, hook) => {
    const { fullName, nativeName, username, uuid } = request.caller;
    const context = userContext({ uuid, username, full_name: fullName, native_name: nativeName });
    const payload = JSON.stringify({ level: 'info', message: testMessage, context });
    return accepted(request, queueTest(request, hook, 'custom_notification', payload));
  },
});

/** The delivery log of web hooks and its actions (events.md 5.9). */
export const deliveryEndpoints: readonly Endpoint[] = [
  test.endpoint,
  {
    path: '/api/hooks-web/:key/deliveries/',
    name: 'Delivery List',
    description: 'Past and pending deliveries to a web hook.',
    actions: (request) => void webHooks.find(request),
    operations: {
      GET: {
        summary: 'Lists the deliveries of a web hook, newest first.',
        allowedFor: visibleHooks.allowedFor,
        filters: log.spec.filters,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: log.shape } },
        handle: (request) => log.page(request, [sql`d.hook_id = ${webHooks.find(request).id}`]),
      },
    },
  },
  {
    path: '/api/hooks-web/:key/deliveries/:delivery/',
    name: 'Delivery Instance',
    description: 'One delivery to a web hook.',
    actions: (request) => void find(request, webHooks.find(request)),
    operations: {
      GET: {
        summary: 'Returns one delivery with its request and response.',
        allowedFor: visibleHooks.allowedFor,
        selectable: true,
        output: { status: 200, shape: deliveryDetails.shape },
        handle: (request) => {
          const { id } = find(request, webHooks.find(request));
          return document(deliveryDetails.representOne(request, id, httpDetailsOf(request, id)));
        },
      },
    },
  },
  {
    path: '/api/hooks-web/:key/deliveries/:delivery/redeliver/',
    name: 'Delivery Redeliver',
    description: 'Sends a finished delivery again.',
    actions: (request) => {
      const hook = webHooks.find(request);
      find(request, hook);
      return hookManagers.may(request, hook) ? { POST: {} } : undefined;
    },
    operations: {
      POST: {
        summary: 'Queues a finished delivery again, with a new retry schedule.',
        allowedFor: hookManagers.allowedFor,
        output: { status: 202, shape: log.shape },
        handle: (request) => {
          const hook = webHooks.find(request);
          const delivery = find(request, hook);
          hookManagers.require(request, hook);
          request.checkPreconditions();
          const reason = delivery.status === 'pending' ? 'Delivery is already pending.' : inactiveReason(request, hook);
          if (reason !== undefined) throw conflict(reason);
          queueAgain(request, hook, delivery.id);
          return accepted(request, delivery.id);
        },
      },
    },
  },
];
