import type { Request } from '../../kernel/access/request.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { shown, shownText, shownTime, uuidField } from '../../kernel/collection/field.ts';
import { oneOf } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { Listing } from '../../kernel/collection/listing.ts';
import { linkValue, numberValue, textValue, timeValue } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, notFound } from '../../kernel/http/error.ts';
import { document, type Reply } from '../../kernel/http/reply.ts';
import { userContext } from '../events/context.ts';
import type { HookRow } from './hook.ts';
import { hookActions, managedWebHook, webHooks } from './hooks-web.ts';
import { queueAgain, queueTest } from './queue.ts';

const log = new Listing({
  title: 'WebHookDelivery',
  table: 'delivery',
  alias: 'd',
  fields: {
    url: selfLink('hooks-web', "concat((SELECT uuid FROM hook WHERE id = d.hook_id), '/deliveries/', d.uuid)"),
    uuid: uuidField(),
    hook: shown(
      'field',
      { type: 'string', format: 'uri' },
      linkValue('hooks-web', '(SELECT uuid FROM hook WHERE id = d.hook_id)'),
    ),
    event_uuid: shownText(textValue('(SELECT uuid FROM event WHERE id = d.event_id)')),
    event_type: shownText(),
    status: shownText(),
    attempts: shown('integer', { type: 'integer' }, numberValue),
    response_code: shown('integer', { type: ['integer', 'null'] }, numberValue),
    error_message: shownText(),
    created: shownTime(),
    last_attempt: shownTime(timeValue),
    next_attempt: shownTime(timeValue),
    delivered: shown(
      'datetime',
      { type: ['string', 'null'], format: 'date-time' },
      timeValue("iif(d.status = 'delivered', d.finished, NULL)"),
    ),
  },
  filters: {
    status: oneOf('d.status', 'pending, delivered, failed or canceled.'),
    event_type: oneOf('d.event_type', 'Type of the event.'),
  },
  orderings: {},
  order: '-d.id',
});

const readers = 'The author of the hook; staff and global support.';
const managers = 'The author of the hook, and staff.';

/** The delivery a path names, of that hook. Throws 404. */
function find({ db, params }: Request, hook: HookRow): { id: number; status: string } {
  const uuid = params.delivery ?? '';
  const row = /^[0-9a-f]{32}$/i.test(uuid)
    ? db.get<{ id: number; status: string }>(
        sql`SELECT id, status FROM delivery WHERE uuid = ${uuid.toLowerCase()} AND hook_id = ${hook.id}`,
      )
    : undefined;
  if (!row) throw notFound();
  return row;
}

const represent = (request: Request, id: number): string => log.represent(request, [id])[0] as string;

/** 202: the delivery is on its way. */
const accepted = (request: Request, id: number): Reply => ({
  status: 202,
  body: represent(request, id),
  type: 'application/json',
  headers: {},
  conditional: false,
});

/** Throws 409 when nothing is delivered to the hook: it, or its author, is inactive. */
function requireActive({ db }: Request, hook: HookRow): void {
  const isActive = db.value(
    sql`SELECT 1 FROM hook h JOIN user u ON u.id = h.user_id WHERE h.id = ${hook.id} AND h.is_active AND u.is_active`,
  );
  if (isActive === undefined) throw conflict('Hook is not active.');
}

const testMessage = 'Test delivery of the hook.';

/** The delivery log of web hooks, and what is done with it (events.md 5.9). */
export const deliveryEndpoints: readonly Endpoint[] = [
  {
    path: '/api/hooks-web/:key/test/',
    name: 'Web Hook Test',
    description: 'Sends a synthetic event to a web hook.',
    actions: hookActions,
    operations: {
      POST: {
        summary: 'Queues the delivery of a synthetic custom_notification.',
        who: managers,
        output: { status: 202, shape: log.shape },
        handle: (request) => {
          const hook = managedWebHook(request);
          requireActive(request, hook);
          const { fullName, nativeName, username, uuid } = request.caller;
          const context = userContext({ uuid, username, full_name: fullName, native_name: nativeName });
          return accepted(
            request,
            queueTest(
              request,
              hook,
              'custom_notification',
              JSON.stringify({ level: 'info', message: testMessage, context }),
            ),
          );
        },
      },
    },
  },
  {
    path: '/api/hooks-web/:key/deliveries/',
    name: 'Delivery List',
    description: 'What was, is and will be delivered to a web hook.',
    actions: (request) => void webHooks.find(request),
    operations: {
      GET: {
        summary: 'Lists the deliveries of a web hook, newest first.',
        who: readers,
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
        summary: 'Answers one delivery.',
        who: readers,
        output: { status: 200, shape: log.shape },
        handle: (request) => document(represent(request, find(request, webHooks.find(request)).id)),
      },
    },
  },
  {
    path: '/api/hooks-web/:key/deliveries/:delivery/redeliver/',
    name: 'Delivery Redeliver',
    description: 'Sends a finished delivery again.',
    actions: (request) => {
      find(request, webHooks.find(request));
      return hookActions(request);
    },
    operations: {
      POST: {
        summary: 'Makes a finished delivery pending again, with the schedule from its start.',
        who: managers,
        output: { status: 202, shape: log.shape },
        handle: (request) => {
          const hook = webHooks.find(request);
          const delivery = find(request, hook);
          managedWebHook(request);
          if (delivery.status === 'pending') throw conflict('Delivery is already pending.');
          requireActive(request, hook);
          queueAgain(request, hook, delivery.id);
          return accepted(request, delivery.id);
        },
      },
    },
  },
];
