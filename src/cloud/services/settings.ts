import { createQuotas } from '../../activity/quotas/usage.ts';
import { soughtScope } from '../../activity/scopes/resolve.ts';
import { newUuid } from '../../kernel/access/app.ts';
import { isStaff } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, right, staff, visibleTo } from '../../kernel/access/right.ts';
import { ownsCustomer, ownsSomeCustomer } from '../../kernel/access/rights.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { messages, printed, type Values } from '../../kernel/collection/field.ts';
import { exact, oneOf, partial, truth, uuidOf, within } from '../../kernel/collection/filter.ts';
import { raw, sql, type Value } from '../../kernel/db/sql.ts';
import { UploadedFile } from '../../kernel/http/body.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { isSimulated } from '../drivers/drivers.ts';
import { queueSync } from '../jobs/jobs.ts';
import { visibleSettings } from './readable.ts';
import { serviceManagers, settingsWriters } from './rights.ts';
import { masked, secretChange } from './secrets.ts';
import { removeSettings, resourcesReason } from './service-lifecycle.ts';
import { optionFields, optionNames, settingsFields } from './settings-fields.ts';
import { settingsStates } from './states.ts';

export interface SettingsRow extends Row {
  readonly name: string;
  readonly type: string;
  readonly state: string;
  readonly shared: number;
  readonly customer_id: number | null;
  readonly backend_url: string | null;
  readonly username: string | null;
  readonly password: Uint8Array | null;
  readonly token: Uint8Array | null;
  readonly certificate: Uint8Array | null;
  readonly certificate_name: string | null;
  readonly domain: string | null;
  readonly options: string;
  readonly secret_options: Uint8Array | null;
}

export type SettingsValues = Values<ReturnType<typeof settingsFields>>;

/** The right of an owner over settings of their own customer. */
const givers = anyOf(
  staff,
  right<{ readonly customer?: number | null }>(
    'owners for their customers',
    ({ caller, db }, { customer }) => typeof customer === 'number' && ownsCustomer(db, caller, customer),
  ),
);

/** Accounts at providers of the types of a catalogue. */
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
      'shared settings everybody; others owners and support of the customer; staff and global support',
      (caller) => visibleSettings(caller),
    ),
    filters: {
      name: partial('st.name'),
      type: { ...exact('st.type COLLATE NOCASE'), help: 'Type, in any case.' },
      state: within(settingsStates, oneOf('st.state', 'State.')),
      shared: truth('st.shared'),
      customer: uuidOf('st.customer_id', 'customer'),
      customer_uuid: uuidOf('st.customer_id', 'customer'),
      scope: {
        type: 'link',
        help: 'Link of the resource that hosts the backend.',
        condition: (request) => {
          const scope = soughtScope(request);
          if (scope === undefined) return undefined;
          return scope !== 'unknown' && scope.kind === 'resource' ? sql`st.scope_id = ${scope.id}` : raw('FALSE');
        },
      },
    },
    orderings: { name: 'st.name COLLATE NOCASE', type: 'st.type', state: 'st.state' },
    order: 'st.type, st.name COLLATE NOCASE',
    examples: {
      create: {
        name: 'Droplets of Alice',
        type: 'DigitalOcean',
        customer: exampleLink('customers'),
        token: 'token-of-the-account',
      },
    },
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
        if (!request.caller.isStaff && values.customer == null)
          throw invalid({ customer: ['This field is required.'] });
        rejectMissingCredentials(request, values.type, values);
      },
      rightWith: givers,
      run: (request, values) => createSettings(request, values, request.caller.isStaff && (values.shared ?? false)),
    },
    update: {
      right: settingsWriters,
      check: (request, values, row) => {
        rejectMissingCredentials(request, row.type, values, row);
        rejectForeignSecrets(request, values, row);
        rejectSwitch(request, values, row);
      },
      run: (request, row, values) => {
        const columns = columnsOf(request, values, row);
        if (Object.keys(columns).length > 0)
          request.db.update('service_settings', row.id, { ...columns, by_staff: Number(request.caller.isStaff) });
      },
    },
    delete: {
      right: settingsWriters,
      refusalReason: (request, row) =>
        resourcesReason(request, 'settings_id', row.id, 'Cannot delete service settings'),
      run: (request, row) => removeSettings(request, row.id),
    },
  }),
);

/** Credentials stand in detail answers: of one object, and of writes. */
const isDetail = (request: Request): boolean => request.params.key !== undefined || request.incoming.method === 'POST';

/** Stores new settings and queues their first synchronisation. Answers their id. */
export function createSettings(
  request: Request,
  values: SettingsValues & { readonly type: string },
  shared: boolean,
): number {
  const { db, app } = request;
  const uuid = newUuid(app);
  const { type } = values;
  const id = db.insert('service_settings', {
    uuid,
    type,
    state: 'Creation Scheduled',
    shared: Number(shared),
    customer_id: values.customer ?? null,
    by_staff: Number(request.caller.isStaff),
    created: request.now,
    ...columnsOf(request, values, { uuid, options: '{}', secret_options: null, type }),
  });
  createQuotas(request, 'settings', id, app.catalogue.type(type).quotas.settings, {}, true);
  queueSync(request, id);
  return id;
}

/** What of the present row a change depends on. */
type Stored = Pick<SettingsRow, 'uuid' | 'options' | 'secret_options' | 'type'>;

/** Values of a body as columns: secrets sealed, options merged. */
function columnsOf(request: Request, values: SettingsValues, row: Stored): Record<string, Value> {
  const { secrets } = request.app;
  const columns: Record<string, Value> = {};
  for (const name of ['name', 'homepage', 'terms_of_services', 'backend_url', 'username', 'domain'] as const) {
    const value = values[name];
    if (value !== undefined) columns[name] = value;
  }
  for (const name of ['password', 'token'] as const) {
    const change = secretChange(values[name]);
    if (change.kind === 'clear') columns[name] = null;
    if (change.kind === 'replace') columns[name] = secrets.seal(change.value, row.uuid);
  }
  if (values.certificate !== undefined) {
    const file = values.certificate instanceof UploadedFile ? values.certificate : null;
    columns.certificate = file && secrets.seal(file.content.toString('utf8'), row.uuid);
    columns.certificate_name = file === null ? null : file.name;
  }
  if (values.scope !== undefined) columns.scope_id = values.scope?.id ?? null;
  return { ...columns, ...optionColumns(request, values, row) };
}

/** Options with those of the body laid over; null removes one. A secret one is sealed, and stars stand for it. */
function optionColumns({ app }: Request, values: SettingsValues, row: Stored): Record<string, Value> {
  const given: Readonly<Record<string, unknown>> = values;
  const options: Record<string, unknown> = JSON.parse(row.options);
  const secrets: Record<string, unknown> = row.secret_options
    ? JSON.parse(app.secrets.open(row.secret_options, row.uuid))
    : {};
  const sealed = new Set(app.catalogue.type(row.type).secretOptions);
  let hasNewSecrets = false;
  for (const name of optionNames(app.catalogue, row.type)) {
    const value = given[name];
    if (value === undefined || (sealed.has(name) && value === masked)) continue;
    if (value === null) delete options[name];
    else options[name] = sealed.has(name) ? masked : value;
    if (!sealed.has(name)) continue;
    hasNewSecrets = true;
    if (value === null) delete secrets[name];
    else secrets[name] = value;
  }
  const text = JSON.stringify(options);
  return {
    ...(text !== row.options && { options: text }),
    ...(hasNewSecrets && { secret_options: app.secrets.seal(JSON.stringify(secrets), row.uuid) }),
  };
}

/** Throws 400 for credentials that a real driver needs and neither body nor row have, for a type without one, and for a simulator that is not to be used. */
export function rejectMissingCredentials(
  { config, app }: Request,
  typeName: string,
  values: SettingsValues,
  row?: SettingsRow,
): void {
  const backendUrl = values.backend_url === undefined ? row?.backend_url : values.backend_url;
  if (isSimulated(backendUrl)) {
    if (!row && !config.simulator_enabled) throw invalid({ backend_url: [messages.url] });
    return;
  }
  const type = app.catalogue.type(typeName);
  if (!type.driver) {
    throw invalid({
      backend_url: [
        `This version has no driver for ${type.name} backends. Leave backend_url empty to use the simulator.`,
      ],
    });
  }
  const kept = (name: 'password' | 'token'): boolean => {
    const change = secretChange(values[name]);
    return change.kind === 'replace' || (change.kind === 'keep' && row?.[name] != null);
  };
  const username = values.username === undefined ? row?.username : values.username;
  const missing = type.missingCredentials({
    username: username ?? null,
    password: kept('password') || null,
    token: kept('token') || null,
  });
  if (Object.keys(missing).length > 0) throw invalid(missing);
}

/**
 * Secrets do not follow to another origin, nor behind a certificate that somebody else vouches for: whoever changes that must
 * know them (services.md 2.5).
 */
function rejectForeignSecrets({ app, caller }: Request, values: SettingsValues, row: SettingsRow): void {
  const isMoved = values.backend_url !== undefined && originOf(values.backend_url) !== originOf(row.backend_url);
  const hasOtherAnchor =
    values.certificate instanceof UploadedFile || (values.certificate === null && row.certificate !== null);
  if (!isMoved && !(hasOtherAnchor && !caller.isStaff)) return;
  const given: Readonly<Record<string, unknown>> = values;
  const options: Readonly<Record<string, unknown>> = JSON.parse(row.options);
  const stored = [
    ...(['password', 'token', 'certificate'] as const).filter((name) => row[name] !== null),
    ...(app.catalogue.type(row.type).secretOptions ?? []).filter((name) => options[name] !== undefined),
  ];
  const names = stored.filter((name) => {
    const value = given[name];
    return typeof value === 'string' ? secretChange(value).kind !== 'replace' : value === undefined;
  });
  if (names.length === 0) return;
  throw invalid(
    Object.fromEntries(names.map((name) => [name, ['Credentials must be given again when the backend changes.']])),
  );
}

const originOf = (url: string | null): string => (url === null || isSimulated(url) ? '' : new URL(url).origin);

/** Resources of the simulator are not the provider's, nor the other way round. */
function rejectSwitch({ db }: Request, values: SettingsValues, row: SettingsRow): void {
  if (values.backend_url === undefined || isSimulated(values.backend_url) === isSimulated(row.backend_url)) return;
  if (db.value(sql`SELECT 1 FROM resource WHERE settings_id = ${row.id}`) !== undefined) {
    throw conflict('Backend of service settings with existing resources cannot be changed.');
  }
}
