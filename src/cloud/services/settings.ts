import { createQuotas } from '../../activity/quotas/usage.ts';
import { findScope } from '../../activity/scopes/resolve.ts';
import { boundText } from '../../kernel/access/api-key.ts';
import { isStaff } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, right, staff, visibleTo } from '../../kernel/access/right.ts';
import { ownsCustomer, ownsSomeCustomer } from '../../kernel/access/rights.ts';
import { newUuid } from '../../kernel/app.ts';
import { collection } from '../../kernel/collection/collection.ts';
import { printed } from '../../kernel/collection/field.ts';
import {
  booleanColumn,
  exact,
  type Filter,
  type Filters,
  ofName,
  oneOf,
  requireWords,
  uuidOf,
  within,
} from '../../kernel/collection/filter.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { forbidden, invalid } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { isSimulated } from '../catalogue/simulation.ts';
import { queueSync, requestSync } from '../operations/sync-jobs.ts';
import {
  backendOfNew,
  rejectForeignSecrets,
  rejectMissingCredentials,
  rejectSwitch,
  rejectUnknownOperations,
} from './backend.ts';
import { visibleSettings } from './readable.ts';
import { serviceManagers, settingsWriters } from './rights.ts';
import { removeSettings, resourcesReason } from './service-lifecycle.ts';
import { optionFields, optionNames, settingsFields, settingsStates } from './settings-fields.ts';
import { columnsOf, isOtherAccount, type SettingsRow, type SettingsValues } from './settings-row.ts';

/** The right of owners to their customer's settings. */
const customerOwners = anyOf(
  staff,
  right<{ readonly customer?: number | null }>(
    'owners for their customers',
    ({ caller, db }, { customer }) => typeof customer === 'number' && ownsCustomer(db, caller, customer),
  ),
);

const typeFilter = (catalogue: Catalogue): Filter => ({
  ...exact('st.type COLLATE NOCASE'),
  help: 'Type, in any case.',
  condition: (request, name) => {
    const types = catalogue.types.map((type) => type.name.toLowerCase());
    requireWords(request, name, (word) => types.includes(word.toLowerCase()));
    return exact('st.type COLLATE NOCASE').condition(request, name);
  },
});

const hostFilter: Filter = {
  type: 'link',
  help: 'Link of the resource that hosts the backend.',
  condition: (request) => {
    const scope = findScope(request);
    if (scope === undefined) return undefined;
    return scope !== 'unknown' && scope.kind === 'resource' ? sql`st.scope_id = ${scope.id}` : raw('FALSE');
  },
};

const settingsFilters = (catalogue: Catalogue): Filters => ({
  ...ofName('st.name'),
  type: typeFilter(catalogue),
  state: within(settingsStates, oneOf('st.state', 'State.')),
  shared: booleanColumn('st.shared'),
  customer: uuidOf('st.customer_id', 'customer'),
  customer_uuid: uuidOf('st.customer_id', 'customer'),
  scope: hostFilter,
});

/** A valid body for the documentation. */
const example = {
  name: 'Droplets of Alice',
  type: 'DigitalOcean',
  customer: exampleLink('customers'),
  token: 'token-of-the-account',
};

/** Provider accounts of the types in a catalogue. */
export const settings = memoised((catalogue: Catalogue) =>
  collection<SettingsRow>()({
    path: 'service-settings',
    kind: 'Service Settings',
    description:
      'Accounts at providers: where they are, and the credentials for them, which are written but never read.',
    table: 'service_settings',
    alias: 'st',
    fields: settingsFields(catalogue),
    visible: visibleTo(
      'shared settings: any authenticated user; others: owners and support of the customer; staff and global support',
      (caller) => visibleSettings(caller),
    ),
    filters: settingsFilters(catalogue),
    orderings: { name: 'st.name COLLATE NOCASE', type: 'st.type', state: 'st.state' },
    order: 'st.type, st.name COLLATE NOCASE',
    examples: { create: example },
    parameters: (request) => ({ detail: isDetail(request) ? 1 : 0 }),
    described: (request, row) =>
      row
        ? settingsWriters.may(request, row)
        : serviceManagers.may(request, undefined) &&
          (isStaff(request.caller) || ownsSomeCustomer(request.db, request.caller)),
    accepts: (request, name, row) =>
      !(name in optionFields(catalogue)) ||
      optionNames(catalogue, row?.type ?? printed(request.body().values.type)).includes(name),
    create: {
      right: serviceManagers,
      check: (request, values) => {
        if (request.caller.apiKey?.isOfStaff && values.shared) throw forbidden(boundText);
        if (!request.caller.isStaff && values.customer == null)
          throw invalid({ customer: ['This field is required.'] });
        rejectUnknownOperations(request, values.type, values);
        rejectMissingCredentials(request, values.type, values);
      },
      rightWith: customerOwners,
      run: (request, values) => createSettings(request, values, request.caller.isStaff && (values.shared ?? false)),
    },
    update: {
      right: settingsWriters,
      check: (request, values, row) => {
        rejectUnknownOperations(request, row.type, values);
        rejectMissingCredentials(request, row.type, values, row);
        rejectForeignSecrets(request, values, row);
        rejectSwitch(request, values, row);
      },
      run: updateSettings,
    },
    delete: {
      right: settingsWriters,
      denialReason: (request, row) => resourcesReason(request, 'settings_id', row.id, 'Cannot delete service settings'),
      run: (request, row) => removeSettings(request, row.id),
    },
  }),
);

/** Responses with a single object, including those to writes, contain credentials. */
const isDetail = (request: Request): boolean => request.params.key !== undefined || request.incoming.method === 'POST';

/** Stores new settings and queues their first synchronisation. Returns their id. */
export function createSettings(
  request: Request,
  values: SettingsValues & { readonly type: string },
  shared: boolean,
): number {
  const { db, app } = request;
  const uuid = newUuid(app);
  const { type } = values;
  const backendUrl = backendOfNew(request, type, values.backend_url);
  const id = db.insert('service_settings', {
    uuid,
    type,
    state: 'Creation Scheduled',
    shared: Number(shared),
    by_staff: Number(request.caller.isStaff),
    created: request.now,
    ...columnsOf(request, { ...values, backend_url: backendUrl }, { uuid, options: '{}', secret_options: null, type }),
  });
  createQuotas(request, 'settings', id, app.catalogue.type(type).quotas.settings, {}, true);
  queueSync(request, id);
  if (isSimulated(backendUrl))
    db.onceStored(() => app.log.warn({ settings: uuid, type }, 'new settings are simulated: no provider is called'));
  return id;
}

function updateSettings(request: Request, row: SettingsRow, values: Partial<SettingsValues>): void {
  const columns = columnsOf(request, values, row);
  if (Object.keys(columns).length === 0) return;
  request.db.update('service_settings', row.id, { ...columns, by_staff: Number(request.caller.isStaff) });
  if (isOtherAccount(request.app, row, columns)) requestSync(request, row.id);
}
