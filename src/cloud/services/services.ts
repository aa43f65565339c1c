import { projects } from '../../accounts/projects/projects.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver, rightVia, visibleTo } from '../../kernel/access/right.ts';
import { type Columns, changesOf } from '../../kernel/collection/changes.ts';
import { Collection, type Row } from '../../kernel/collection/collection.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import type { NewValues, Values } from '../../kernel/collection/field.ts';
import { oneOf, requireWords } from '../../kernel/collection/filter.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { link } from '../../kernel/collection/links.ts';
import type { ObjectAction } from '../../kernel/collection/object-options.ts';
import { text } from '../../kernel/collection/values.ts';
import { any, raw, sql } from '../../kernel/db/sql.ts';
import { invalid, invalidRequest } from '../../kernel/http/error.ts';
import type { Reply } from '../../kernel/http/reply.ts';
import { memoised } from '../../kernel/memoised.ts';
import { present } from '../../kernel/present.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { rejectMissingCredentials, rejectUnknownOperations } from './backend.ts';
import { pingSettings } from './ping.ts';
import { visibleServices } from './readable.ts';
import { importers, serviceManagers, serviceWriters } from './rights.ts';
import { parents, type ServiceFields, serviceFields } from './service-fields.ts';
import { filters, ofSettings, orderings } from './service-filters.ts';
import { createLink, createService, linkToProjects, removeService, resourcesReason } from './service-lifecycle.ts';
import { createSettings } from './settings.ts';
import { masked, optionFields, optionNames } from './settings-fields.ts';

export interface ServiceRow extends Row {
  readonly customer_id: number;
  readonly settings_id: number;
  readonly available_for_all: number;
}

type NewService = NewValues<ServiceFields>;

/** The services of one type. */
type Services = Collection<ServiceFields, ServiceRow>;

/** The minimum credentials of a provider type, for the documentation. */
function exampleCredentials({ missingCredentials }: ProviderType): Readonly<Record<string, string>> {
  const sets = [
    { token: 'token-of-the-account' },
    { username: 'tenantry', password: 'password-of-the-account' },
    { username: 'tenantry', token: 'token-of-the-account' },
  ];
  return sets.find((set) => Object.keys(missingCredentials(set)).length === 0) ?? {};
}

/** The services of one type, under its own path. */
function typedServices(catalogue: Catalogue, type: ProviderType): Services {
  return new Collection<ServiceFields, ServiceRow>({
    path: type.prefix,
    kind: `${type.name} Service`,
    noun: `${type.name} service`,
    description: `Use of ${type.name} settings by customers.`,
    table: 'service',
    alias: 'v',
    fields: serviceFields(catalogue),
    parents,
    visible: visibleTo(
      'callers with a role in the customer or a linked project; staff and global support',
      (caller) => sql`${raw(ofSettings('type'))} = ${type.name} AND (${visibleServices(caller)})`,
    ),
    accepts: (_, name) => isFieldOf(catalogue, type, name),
    examples: {
      create: { name: `${type.name} of Alice`, customer: exampleLink('customers'), ...exampleCredentials(type) },
    },
    options: { actions: () => importActions(type) },
    filters,
    orderings,
    order: `${ofSettings('name')} COLLATE NOCASE`,
    create: {
      right: serviceManagers,
      check: (request, values) => checkCreation(request, type, values),
      rightWith: rightVia(({ customer }: NewService) => ({ customer_id: customer }), serviceWriters),
      prepare: async (request, values) => {
        if (values.settings !== undefined) return;
        const problem = await pingSettings(request, type, values);
        if (problem !== undefined) throw invalidRequest(`Wrong settings: ${problem.replace(/\.$/, '')}.`);
      },
      run: (request, values, columns) => store(request, type, values, columns),
    },
    update: { right: serviceWriters, run: update },
    delete: {
      right: serviceWriters,
      denialReason: (request, row) => resourcesReason(request, 'service_id', row.id, 'Cannot delete service'),
      run: (request, row) => removeService(request, row.id),
    },
  });
}

/** Whether services of a type have a member. Options exist only for their type. */
const isFieldOf = (catalogue: Catalogue, type: ProviderType, name: string): boolean =>
  !(name in optionFields(catalogue)) || optionNames(catalogue, type.name).includes(name);

const credentialNames = (catalogue: Catalogue): string[] => [
  'backend_url',
  'username',
  'password',
  'token',
  'certificate',
  'domain',
  ...Object.keys(optionFields(catalogue)),
];

/**
 * Rejects a body without settings or an account. A body without credentials means the simulator, unless the simulator is off or
 * the body has only placeholders of stored secrets.
 */
function rejectUnknownAccount({ app, config }: Request, input: Readonly<Record<string, unknown>>): void {
  const values = credentialNames(app.catalogue)
    .map((name) => input[name])
    .filter((value) => value !== undefined && value !== null && value !== '');
  const isUnknown = values.length === 0 ? !config.simulator_enabled : values.every((value) => value === masked);
  if (isUnknown) throw invalidRequest('Either service settings or credentials must be supplied.');
}

function checkCreation(request: Request, type: ProviderType, values: NewService): void {
  const { db } = request;
  if (
    values.project !== undefined &&
    db.value(sql`SELECT customer_id FROM project WHERE id = ${values.project}`) !== values.customer
  ) {
    throw invalid({ project: ['Service cannot be connected to project that does not belong to services customer.'] });
  }
  if (values.settings === undefined) {
    rejectUnknownAccount(request, values);
    rejectUnknownOperations(request, type.name, values);
    rejectMissingCredentials(request, type.name, values);
    return;
  }
  const usable = db.value(
    sql`SELECT 1 FROM service_settings WHERE id = ${values.settings} AND type = ${type.name} AND (shared OR customer_id = ${values.customer})`,
  );
  if (!usable) throw invalid({ settings: ['Invalid hyperlink - Object does not exist.'] });
  if (
    db.value(sql`SELECT 1 FROM service WHERE settings_id = ${values.settings} AND customer_id = ${values.customer}`)
  ) {
    throw invalidRequest('The fields customer, settings must make a unique set.');
  }
}

function store(request: Request, type: ProviderType, values: NewService, columns: Columns): number {
  const { customer, project } = values;
  const settings = values.settings ?? createSettings(request, { ...values, type: type.name }, false);
  const isAvailableForAll = values.available_for_all ?? false;
  const id = createService(request, { customer, settings, isAvailableForAll, columns }, 'asked');
  if (project === undefined) return id;
  const linked = sql`SELECT 1 FROM service_project_link WHERE service_id = ${id} AND project_id = ${project}`;
  if (request.db.value(linked) === undefined) createLink(request, id, project, 'asked');
  return id;
}

function update(request: Request, row: ServiceRow, values: Values<ServiceFields>, columns: Columns): void {
  const { db } = request;
  const changes = changesOf(row, columns);
  db.update('service', row.id, changes);
  if (changes.available_for_all) linkToProjects(request, row.id);
  if (values.name !== undefined)
    db.run(sql`UPDATE service_settings SET name = ${values.name} WHERE id = ${row.settings_id} AND NOT shared`);
}

/** The body of an import. */
export const importFields = {
  backend_id: text({ max: 255, required: true }),
  project: link({ required: true, to: () => projects, key: "''" }),
  resource_type: text({ max: 100 }),
};

/** Actions on a service. A module that knows resources creates their endpoints. */
export const unlinkAction = { name: 'unlink', right: importers, isDestructive: true } as const;
export const importAction = { name: 'link', right: importers, fields: importFields } as const;

const importActions = (type: ProviderType): readonly ObjectAction<ServiceRow>[] =>
  [unlinkAction, ...(type.kinds.some(({ importing }) => importing) ? [importAction] : [])].map((action) => ({
    ...action,
    method: 'POST',
    tail: `${action.name}/`,
  }));

const servicesByType = memoised(
  (catalogue: Catalogue) => new Map(catalogue.types.map((type) => [type, typedServices(catalogue, type)])),
);

/** Returns the services of one type in a catalogue. */
export const servicesOf = (catalogue: Catalogue, type: ProviderType): Services =>
  present(servicesByType(catalogue).get(type));

/** GET /api/services/: services of all types. */
function summary(anyServices: Services): Endpoint {
  return {
    path: '/api/services/',
    name: 'Service List',
    description: 'Services of all types.',
    operations: {
      GET: {
        summary: 'Lists the services of all types that the caller sees.',
        allowedFor: authenticatedOver('services').allowedFor,
        filters: { service_type: oneOf(ofSettings('type'), 'Type of the service.'), ...filters },
        orderings: Object.keys(orderings),
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: anyServices.shape } },
        handle: (request): Reply => {
          const types = request.query.all('service_type');
          requireWords(request, 'service_type', (type) =>
            request.app.catalogue.types.some(({ name }) => name === type),
          );
          const ofTypes =
            types.length === 0 ? raw('TRUE') : any(types.map((name) => sql`${raw(ofSettings('type'))} = ${name}`));
          return anyServices.listing.page(request, [visibleServices(request.caller), ofTypes]);
        },
      },
    },
  };
}

/** Every path of services. */
export const serviceEndpoints = (catalogue: Catalogue): readonly Endpoint[] => [
  summary(servicesOf(catalogue, present(catalogue.types[0]))),
  ...catalogue.types.flatMap((type) => servicesOf(catalogue, type).endpoints()),
];
