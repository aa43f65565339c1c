import { operators } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { readOnly, readOnlyText } from '../../kernel/collection/field.ts';
import { partial, uuidOf } from '../../kernel/collection/filter.ts';
import { Listing } from '../../kernel/collection/listing.ts';
import { linkShape, linkValue, notNullText, numberValue, plainValue } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { typedLink } from './paths.ts';
import { settings } from './settings.ts';

/** Values of a service (alias `v`), in SQL. */
const ofCustomer = (column: string): string => `(SELECT ${column} FROM customer WHERE id = v.customer_id)`;
const type = '(SELECT type FROM service_settings WHERE id = v.settings_id)';
const projects = '(SELECT count(*) FROM service_project_link WHERE service_id = v.id)';
const resources = '(SELECT count(*) FROM resource WHERE service_id = v.id AND NOT is_part)';
/** Sums the usage of a quota over a service's links. Unlike sum(), total() cannot overflow. */
const used = (name: string): string => `(
  SELECT cast(min(total(q.usage), ${Number.MAX_SAFE_INTEGER}) AS INTEGER)
  FROM service_project_link l JOIN quota q ON q.scope_kind = 'link' AND q.scope_id = l.id AND q.name = '${name}'
  WHERE l.service_id = v.id)`;

/** The quota that links of the type count; null if there is none. */
const counted = (name: string) =>
  readOnly('integer', { type: ['integer', 'null'] }, numberValue(`iif(@isCounted, ${used(name)}, NULL)`));
const number = (text: string) => readOnly('integer', { type: 'integer' }, numberValue(text, { type: 'integer' }));

const listing = new Listing({
  title: 'ServiceSettingsUsage',
  table: 'service',
  alias: 'v',
  fields: {
    customer: readOnly('field', linkShape('customers'), linkValue('customers', ofCustomer('uuid'))),
    customer_uuid: readOnlyText(plainValue(ofCustomer('uuid'))),
    customer_name: readOnlyText(notNullText(ofCustomer('name'))),
    service: readOnly('field', { type: 'string', format: 'uri' }, typedLink(type, '', 'v.uuid')),
    project_count: number(projects),
    resource_count: number(resources),
    vcpu: counted('vcpu'),
    ram: counted('ram'),
    storage: counted('storage'),
  },
  filters: {
    customer_uuid: uuidOf('v.customer_id', 'customer', 'Uuid of the customer.'),
    customer_name: partial(ofCustomer('name')),
  },
  orderings: {
    customer_name: `${ofCustomer('name')} COLLATE NOCASE`,
    project_count: projects,
    resource_count: resources,
    vcpu: used('vcpu'),
    ram: used('ram'),
    storage: used('storage'),
  },
  order: `${ofCustomer('name')} COLLATE NOCASE`,
});

/** GET /api/service-settings/<uuid>/usage/: how much each customer uses of an account (services.md 2.5). */
export const settingsUsage = (catalogue: Catalogue): Endpoint => ({
  path: '/api/service-settings/:key/usage/',
  name: 'Service Settings Usage',
  description: 'Usage of an account by customer.',
  actions: (request) => {
    settings(catalogue).find(request);
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Lists the customers that use an account, with their usage.',
      allowedFor: operators.allowedFor,
      filters: listing.spec.filters,
      orderings: Object.keys(listing.spec.orderings),
      paginated: true,
      output: { status: 200, shape: { type: 'array', items: listing.shape } },
      rejections: { 403: true },
      handle: (request) => {
        const { id, type: name } = settings(catalogue).find(request);
        operators.require(request, undefined);
        const isCounted = catalogue.type(name).quotas.link.length > 0;
        return listing.page(request, [sql`v.settings_id = ${id}`], { isCounted: Number(isCounted) });
      },
    },
  },
});
