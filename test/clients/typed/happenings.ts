/** Events and notifications: events, hooks, quotas, alerts, statistics. */
import { connected, dataOf, keyOf, type Schema } from './client.ts';

const api = connected();

const customer = await dataOf(api.POST('/api/customers/', { body: { name: 'Alice' } }));
const web = await dataOf(
  api.POST('/api/hooks-web/', {
    body: { destination_url: 'https://hooks.example.com/', event_types: ['customer_update_succeeded'] },
  }),
);
await dataOf(api.POST('/api/hooks-email/', { body: { email: 'alice@example.com', event_groups: ['customers'] } }));
await dataOf(
  api.POST('/api/hooks-push/', {
    body: { type: 'Android', event_types: ['customer_deletion_succeeded'], device_id: 'device' },
  }),
);
const alert = await dataOf(
  api.POST('/api/alerts/', {
    body: { scope: customer.url, alert_type: 'noise', severity: 'Warning', message: 'It is loud.' },
  }),
);
await dataOf(api.POST('/api/alerts/{key}/acknowledge/', { params: keyOf(alert) }));

const events: readonly Schema<'Event'>[] = await dataOf(
  api.GET('/api/events/', { params: { query: { event_type: ['customer_creation_succeeded'] } } }),
);
const { count } = await dataOf(api.GET('/api/events/count/'));
const groups = await dataOf(api.GET('/api/events/event_groups/'));
const hooks = await dataOf(api.GET('/api/hooks/'));
const lists = await Promise.all([
  dataOf(api.GET('/api/hooks-web/')),
  dataOf(api.GET('/api/hooks-email/')),
  dataOf(api.GET('/api/hooks-push/')),
  dataOf(api.GET('/api/hooks-web/{key}/deliveries/', { params: keyOf(web) })),
  dataOf(api.GET('/api/alerts/', { params: { query: { severity: ['Warning'] } } })),
  dataOf(api.GET('/api/quotas/', { params: { query: { name: 'nc_project_count' } } })),
]);
const [quota] = lists[5];
const history =
  quota &&
  (await dataOf(
    api.GET('/api/quotas/{key}/history/', { params: { ...keyOf(quota), query: { point: [1_600_000_000] } } }),
  ));
const stats = await dataOf(api.GET('/api/alerts/stats/'));
const unread = await dataOf(api.GET('/api/notifications/', { params: { query: { unread: '' } } }));
const { alert_opened: preference } = await dataOf(api.GET('/api/notification-preferences/'));
const created = await dataOf(api.GET('/api/stats/creation-time/', { params: { query: { type: 'customer' } } }));

void (() =>
  api.POST('/api/alerts/', {
    // @ts-expect-error no such severity
    body: { scope: customer.url, alert_type: 'noise', severity: 'Loud', message: 'It is loud.' },
  }));

console.log(
  JSON.stringify({
    events: events.map(({ message }) => message),
    counted: count > 0,
    groups: Object.keys(groups).length > 0,
    hooks: hooks.map(({ hook_type }) => hook_type),
    lists: lists.map((list) => list.length),
    unread: unread.length,
    preference,
    history: history?.length,
    warnings: stats.warning,
    created: created.length > 0,
  }),
);
