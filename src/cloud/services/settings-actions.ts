import { certificationsField } from '../../accounts/projects/certifications.ts';
import { callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated, type Right, right } from '../../kernel/access/right.ts';
import { customersWithRole } from '../../kernel/access/visibility.ts';
import { isoTime } from '../../kernel/clock.ts';
import { action } from '../../kernel/collection/action.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { changed, json } from '../../kernel/http/reply.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { requestSync } from '../operations/sync-jobs.ts';
import { settingsWriters } from './rights.ts';
import { settings } from './settings.ts';
import type { SettingsRow } from './settings-row.ts';

const updateCertifications = (catalogue: Catalogue): Endpoint =>
  action({
    on: settings(catalogue),
    name: 'update_certifications',
    summary: 'Replaces the certifications of service settings.',
    description: 'Replaces the certifications that settings hold.',
    right: settingsWriters,
    fields: { certifications: certificationsField({ required: true }) },
    output: { status: 200, shape: settings(catalogue).shape },
    run: (request, row, { certifications }) => {
      request.db.run(sql`DELETE FROM settings_certification WHERE settings_id = ${row.id}`);
      for (const id of certifications)
        request.db.insert('settings_certification', { settings_id: row.id, certification_id: id });
      return changed(settings(catalogue).represent(request, row.id));
    },
  }).endpoint;

const names = ['vcpu', 'ram', 'storage'] as const;

/** Sums limits (-1 if any is unlimited or there are none) and usages. */
const sums = ({ db }: Request, scope: string, ids: Sql, name: string): { limit: number; usage: number } =>
  db.one(sql`
    SELECT ifnull(iif(min("limit") = -1, -1, sum("limit")), -1) AS "limit", ifnull(sum(usage), 0) AS usage
    FROM quota
    WHERE scope_kind = ${scope} AND name = ${name} AND scope_id IN (${ids})`);

/** The customers in the statistics: all, or those in which the caller has a role. */
const ofCustomers = ({ caller }: Request, column: string): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${customersWithRole(callerId(caller))})`;

/** The right to read the statistics. Users of shared settings can read the usage of their customers. */
const statisticsReaders: Right<SettingsRow> = right(
  'callers who can see private settings; of shared ones staff, global support, and owners and support of customers with a service on them, over their own usage',
  (request, row) =>
    row.shared === 0 ||
    seesAll(request.caller) ||
    request.db.value(sql`
      SELECT 1 FROM service v WHERE v.settings_id = ${row.id} AND ${ofCustomers(request, 'v.customer_id')} LIMIT 1`) !==
      undefined,
);

/** Capacity and usage of a provider account with machines (services.md 2.5 "stats"). */
function statistics(request: Request, row: SettingsRow): Record<string, number> {
  const type = request.app.catalogue.type(row.type);
  const isCloud = type.quotas.settings.length > 0;
  const isPartial = row.shared === 1 && !seesAll(request.caller);
  const counted = (column: string): Sql => (isPartial ? ofCustomers(request, column) : raw('TRUE'));
  const links = sql`
    SELECT l.id FROM service_project_link l JOIN service v ON v.id = l.service_id
    WHERE v.settings_id = ${row.id} AND ${counted('v.customer_id')}`;
  const tenants = sql`
    SELECT id FROM resource
    WHERE settings_id = ${row.id} AND ${raw("kind = 'OpenStack.Tenant'")} AND ${counted('customer_id')}`;
  return Object.fromEntries(
    names.flatMap((name) => {
      const used = isCloud ? sums(request, 'resource', tenants, name) : sums(request, 'link', links, name);
      const own =
        isCloud && !isPartial
          ? sums(request, 'settings', sql`SELECT ${row.id}`, `openstack_${name}`)
          : { limit: -1, usage: used.usage };
      return [
        [name, own.limit],
        [`${name}_quota`, used.limit],
        [`${name}_usage`, own.usage],
      ] as const;
    }),
  );
}

const stats = (catalogue: Catalogue): Endpoint => ({
  path: '/api/service-settings/:key/stats/',
  name: 'Service Settings Statistics',
  description: 'Capacity of a provider and its usage.',
  actions: (request) => {
    settings(catalogue).find(request);
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Returns the capacity of a provider and its usage.',
      allowedFor: statisticsReaders.allowedFor,
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'number' } } },
      rejections: { 403: true },
      handle: (request) => {
        const row = settings(catalogue).find(request);
        statisticsReaders.require(request, row);
        return json(request.app.catalogue.type(row.type).quotas.link.length === 0 ? {} : statistics(request, row));
      },
    },
  },
});

const idleStates = ['In Sync', 'Erred'];
const pulled = { status: 'Pull has been scheduled.' };

const pull = (catalogue: Catalogue): Endpoint =>
  action({
    on: settings(catalogue),
    name: 'pull',
    summary: 'Synchronises service settings with their provider.',
    right: settingsWriters,
    denialReason: (_, { state }) =>
      idleStates.includes(state) ? undefined : `Valid states for operation: ${idleStates.join(', ')}.`,
    output: { status: 202, shape: objectShape({ status: { type: 'string', examples: [pulled.status] } }) },
    run: (request, row) => {
      requestSync(request, row.id);
      return json(pulled, 202);
    },
  }).endpoint;

const instant = { type: ['string', 'null'], format: 'date-time' } as const;

/**
 * The times of the last and next synchronisation. They are not part of the representation, so that the end of a synchronisation
 * does not cause edit conflicts.
 */
const sync = (catalogue: Catalogue): Endpoint => ({
  path: '/api/service-settings/:key/sync/',
  name: 'Service Settings Synchronisation',
  description: "Times of an account's last and next synchronisation.",
  actions: (request) => {
    settings(catalogue).find(request);
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Returns the times of the last and the next synchronisation of service settings.',
      allowedFor: authenticated.as('callers who can see the settings').allowedFor,
      output: { status: 200, shape: objectShape({ last_sync: instant, next_sync: instant }) },
      handle: (request) => {
        const { config, db } = request.app;
        const { id, state } = settings(catalogue).find(request);
        const synced = db.value<number | null>(sql`SELECT nullif(synced, 0) FROM service_settings WHERE id = ${id}`);
        if (typeof synced !== 'number') return json({ last_sync: null, next_sync: null });
        const next = idleStates.includes(state) ? isoTime(synced + config.settings_sync_interval) : null;
        return json({ last_sync: isoTime(synced), next_sync: next });
      },
    },
  },
});

/** The action paths of settings. */
export const settingsActions = (catalogue: Catalogue): readonly Endpoint[] => [
  updateCertifications(catalogue),
  pull(catalogue),
  stats(catalogue),
  sync(catalogue),
];
