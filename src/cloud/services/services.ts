import { customers } from '../../accounts/customers/customers.ts';
import { projects } from '../../accounts/projects/projects.ts';
import { embeddedQuotas } from '../../activity/quotas/embedded.ts';
import type { Request } from '../../kernel/access/request.ts';
import { connectedProjects } from '../../kernel/access/visibility.ts';
import {
  type DescribedAction,
  describeList,
  describeObject,
  forbiddenText,
  refusalOf,
} from '../../kernel/collection/actions.ts';
import { Collection, type Row } from '../../kernel/collection/collection.ts';
import type { Endpoint, Operation } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import {
  type Field,
  FieldError,
  type Fields,
  shown,
  shownList,
  shownText,
  uuidField,
  type Values,
} from '../../kernel/collection/field.ts';
import { oneOf } from '../../kernel/collection/filter.ts';
import { link } from '../../kernel/collection/links.ts';
import {
  booleanValue,
  computedValue,
  type Json,
  knownText,
  linkValue,
  listValue,
  numberValue,
  objectValue,
  plainValue,
  render,
  textValue,
} from '../../kernel/collection/representation.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { boolean, text, url as urlField } from '../../kernel/collection/values.ts';
import { any, raw, sql } from '../../kernel/db/sql.ts';
import { forbidden, invalid, invalidRequest } from '../../kernel/http/error.ts';
import type { Reply } from '../../kernel/http/reply.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { createLink, createService, linkToProjects, refuseWithResources, removeService } from './linking.ts';
import { typedLink } from './paths.ts';
import { pingSettings } from './ping.ts';
import { visibleServices } from './readable.ts';
import { mayManageServices, mayWriteService, refuseShared } from './rights.ts';
import { secretChange } from './secrets.ts';
import { filters, ofSettings, orderings } from './service-filters.ts';
import { createSettings, refuseMissingCredentials, type SettingsValues } from './settings.ts';
import {
  credentialFields,
  geolocations,
  hostField,
  optionFields,
  optionNames,
  settingsCertifications,
} from './settings-fields.ts';
import { settingsTarget } from './targets.ts';

export interface ServiceRow extends Row {
  readonly customer_id: number;
  readonly settings_id: number;
  readonly available_for_all: number;
}

const fromSettings = (json: Json): Json =>
  computedValue(`(SELECT ${render(json)} FROM service_settings st WHERE st.id = v.settings_id)`, json.shape);
const ofCustomer = (column: string): string => `(SELECT ${column} FROM customer WHERE id = v.customer_id)`;
const visibleProject = `(@all OR p.id IN (${connectedProjects(raw('@caller')).text}))`;

/** Link of the service in alias `v`. */
const serviceLink = typedLink(ofSettings('type'), '', 'v.uuid');

const serviceName: Field<string> = (() => {
  const field = text({ max: 150, required: true, example: 'Cloud of Alice' });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    json: () => textValue(ofSettings('name')),
    input: {
      ...input,
      required: false,
      parse: (value: unknown, request: Request, form: boolean): string => {
        if (value === null || (typeof value === 'string' && value.trim() === ''))
          throw new FieldError(['Name cannot be empty']);
        return input.parse(value, request, form);
      },
    },
  };
})();

/** A field that creation takes and answers never show. */
const unseen = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { ...field, json: undefined, input: field.input && { ...field.input, update: false } },
    ]),
  );

const fieldsOf = memoised((catalogue: Catalogue) => ({
  url: shown('field', { type: 'string', format: 'uri' }, serviceLink, { label: 'URL' }),
  uuid: uuidField(),
  name: serviceName,
  service_type: shownText(textValue(ofSettings('type'))),
  state: shownText(textValue(ofSettings('state'))),
  error_message: shownText(textValue(ofSettings('error_message'))),
  shared: shown('boolean', { type: 'boolean' }, booleanValue(ofSettings('shared'))),
  projects: shownList(
    listValue(
      objectValue({ url: linkValue('projects', 'p.uuid'), uuid: plainValue('p.uuid'), name: knownText('p.name') }),
      `service_project_link l JOIN project p ON p.id = l.project_id WHERE l.service_id = v.id AND ${visibleProject}`,
      'p.name COLLATE NOCASE, p.id',
    ),
  ),
  customer: link({ required: true, update: false, to: () => customers, key: ofCustomer('uuid') }),
  customer_uuid: shownText(plainValue(ofCustomer('uuid'))),
  customer_name: shownText(knownText(ofCustomer('name'))),
  customer_native_name: shownText(knownText(ofCustomer('native_name'))),
  settings: link({ update: false, to: () => settingsTarget, key: ofSettings('uuid') }),
  settings_uuid: shownText(plainValue(ofSettings('uuid'))),
  resources_count: shown(
    'integer',
    { type: 'integer' },
    numberValue(
      `(SELECT count(*) FROM resource r JOIN project p ON p.id = r.project_id WHERE r.service_id = v.id AND NOT r.is_part AND ${visibleProject})`,
    ),
  ),
  available_for_all: boolean(),
  homepage: { ...urlField({ max: 255, update: false }), json: () => textValue(ofSettings('homepage')) },
  terms_of_services: {
    ...urlField({ max: 255, update: false }),
    json: () => textValue(ofSettings('terms_of_services')),
  },
  certifications: shownList(fromSettings(settingsCertifications)),
  geolocations: shownList(fromSettings(geolocations)),
  quotas: shownList(embeddedQuotas('service', 'v.id')),
  project: { ...link({ update: false, to: () => projects, key: "''" }), json: undefined },
  ...unseen({ scope: hostField, ...credentialFields }),
  ...unseen(optionFields(catalogue)),
}));

type ServiceFields = ReturnType<typeof fieldsOf>;
type ServiceValues = Values<ServiceFields> & Partial<SettingsValues>;

/** The services of one type. */
export type Services = Collection<ServiceFields, ServiceRow>;

/** Credentials that a type of provider is content with, for the documentation: the fewest. */
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
    description: `Use of ${type.name} settings by customers.`,
    table: 'service',
    alias: 'v',
    fields: fieldsOf(catalogue),
    visible: (caller) => sql`${raw(ofSettings('type'))} = ${type.name} AND (${visibleServices(caller)})`,
    selectable: true,
    accepts: (_, name) => isFieldOf(catalogue, type, name),
    examples: {
      create: { name: `${type.name} of Alice`, customer: exampleLink('customers'), ...exampleCredentials(type) },
    },
    who: {
      read: 'Everybody with a role in the customer or a linked project; staff and global support.',
      create: 'Staff; owners of the customer.',
      update: 'Staff; owners of the customer.',
      delete: 'Staff; owners of the customer.',
    },
    filters,
    orderings,
    order: `${ofSettings('name')} COLLATE NOCASE`,
    create: {
      may: mayManageServices,
      check: (request, values) => checkCreation(request, type, values as ServiceValues),
      mayWith: (request, values) => mayWriteService(request, values.customer as number),
      run: (request, values) => store(request, type, values as ServiceValues),
    },
    update: {
      may: (request, row) => mayWriteService(request, row.customer_id),
      run: (request, row, values) => update(request, row, values as ServiceValues),
    },
    delete: {
      may: (request, row) => mayWriteService(request, row.customer_id),
      run: (request, row) => {
        refuseWithResources(request, 'service_id', row.id, 'Cannot delete service');
        removeService(request, row.id);
      },
    },
  });
}

/** Whether services of a type have a member: options are those of the type alone. */
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
const isGiven = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(typeof value === 'string' && secretChange(value).kind === 'keep');

function checkCreation(request: Request, type: ProviderType, values: ServiceValues): void {
  const { db } = request;
  if (values.name === undefined) throw invalid({ name: ['Name cannot be empty'] });
  if (
    values.project !== undefined &&
    db.value(sql`SELECT customer_id FROM project WHERE id = ${values.project}`) !== values.customer
  ) {
    throw invalid({ project: ['Service cannot be connected to project that does not belong to services customer.'] });
  }
  if (values.settings === undefined) {
    if (
      !credentialNames(request.deployment.catalogue).some((name) => isGiven((values as Record<string, unknown>)[name]))
    ) {
      throw invalidRequest('Either service settings or credentials must be supplied.');
    }
    refuseMissingCredentials(request, type.name, values as SettingsValues);
    return;
  }
  const usable = db.value(
    sql`SELECT 1 FROM service_settings WHERE id = ${values.settings} AND type = ${type.name} AND (shared OR customer_id = ${values.customer as number})`,
  );
  if (!usable) throw invalid({ settings: ['Invalid hyperlink - Object does not exist.'] });
  if (
    db.value(
      sql`SELECT 1 FROM service WHERE settings_id = ${values.settings} AND customer_id = ${values.customer as number}`,
    )
  ) {
    throw invalidRequest('The fields customer, settings must make a unique set.');
  }
}

function store(request: Request, type: ProviderType, values: ServiceValues): number {
  const settingsId =
    values.settings ?? createSettings(request, { ...values, type: type.name } as SettingsValues, false);
  const isAvailableForAll = values.available_for_all ?? false;
  const id = createService(
    request,
    { customer: values.customer as number, settings: settingsId, isAvailableForAll },
    'asked',
  );
  const isLinked =
    values.project === undefined ||
    request.db.value(
      sql`SELECT 1 FROM service_project_link WHERE service_id = ${id} AND project_id = ${values.project}`,
    ) !== undefined;
  if (!isLinked) createLink(request, id, values.project as number, 'asked');
  return id;
}

function update(request: Request, row: ServiceRow, values: ServiceValues): void {
  const { db } = request;
  if (values.available_for_all !== undefined && Number(values.available_for_all) !== row.available_for_all) {
    db.update('service', row.id, { available_for_all: Number(values.available_for_all) });
    if (values.available_for_all) linkToProjects(request, row.id);
  }
  if (values.name !== undefined)
    db.run(sql`UPDATE service_settings SET name = ${values.name} WHERE id = ${row.settings_id} AND NOT shared`);
}

/** The same collection with a credentials check before anything is stored (services.md 4.2 "ping"). */
function withPing(catalogue: Catalogue, type: ProviderType): Endpoint[] {
  const services = servicesOf(catalogue, type);
  const [list, detail] = services.endpoints() as [Endpoint, Endpoint];
  const post = list.operations.POST as Operation;
  const prepare = async (request: Request): Promise<void> => {
    if (!mayManageServices(request)) throw forbidden();
    const values = validate(services.accepted(request), request, 'create') as ServiceValues;
    if (values.name === undefined) throw invalid({ name: ['Name cannot be empty'] });
    checkCreation(request, type, values);
    if (!mayWriteService(request, values.customer as number)) throw forbidden();
    if (values.settings !== undefined) return;
    const problem = await pingSettings(request, type, values as SettingsValues);
    if (problem !== undefined) throw invalidRequest(`Wrong settings: ${problem}.`);
  };
  return [
    {
      ...list,
      operations: { ...list.operations, POST: { ...post, prepare } },
      metadata: (request) =>
        describeList(request, mayManageServices(request) ? creationFields(catalogue, type) : undefined),
    },
    {
      ...detail,
      metadata: (request) => {
        const row = services.find(request);
        return describeObject(
          request,
          `${request.base}/api/${type.prefix}/${row.uuid}/`,
          row,
          serviceActions(catalogue, type),
        );
      },
    },
  ];
}

/** What creation of a service takes, with the options of its type alone. */
const creationFields = (catalogue: Catalogue, type: ProviderType): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(catalogue)).filter(([name]) => isFieldOf(catalogue, type, name)));

const forWriters =
  (refusal: (request: Request, row: ServiceRow) => string | undefined) =>
  (request: Request, row: ServiceRow): string | undefined =>
    mayWriteService(request, row.customer_id) ? refusal(request, row) : forbiddenText;

/** What one does with a service, as OPTIONS describes it. */
function serviceActions(catalogue: Catalogue, type: ProviderType): DescribedAction<ServiceRow>[] {
  const importing = forWriters((request, row) => refusalOf(() => refuseShared(request, row)));
  const button = { method: 'POST', fields: undefined } as const;
  return [
    {
      name: 'update',
      method: 'PUT',
      destructive: false,
      tail: '',
      fields: fieldsOf(catalogue),
      refusal: forWriters(() => undefined),
    },
    {
      name: 'destroy',
      method: 'DELETE',
      destructive: true,
      tail: '',
      refusal: forWriters((request, row) =>
        refusalOf(() => refuseWithResources(request, 'service_id', row.id, 'Cannot delete service')),
      ),
    },
    { ...button, name: 'unlink', destructive: true, tail: 'unlink/', refusal: importing },
    ...(type.kinds.some(({ isImportable }) => isImportable)
      ? [{ ...button, name: 'link', destructive: false, tail: 'link/', fields: importFields, refusal: importing }]
      : []),
  ];
}

/** The body of an import. */
export const importFields = {
  backend_id: text({ max: 255, required: true }),
  project: link({ required: true, to: () => projects, key: "''" }),
  resource_type: text({ max: 100 }),
};

const servicesByType = memoised(
  (catalogue: Catalogue) => new Map(catalogue.types.map((type) => [type, typedServices(catalogue, type)])),
);

/** The services of one of the types of a catalogue. */
export const servicesOf = (catalogue: Catalogue, type: ProviderType): Services =>
  servicesByType(catalogue).get(type) as Services;

/** GET /api/services/: services of all types. */
function summary(anyServices: Services): Endpoint {
  return {
    path: '/api/services/',
    name: 'Service List',
    description: 'Services of all types.',
    operations: {
      GET: {
        summary: 'Lists the services of all types that the caller sees.',
        who: 'Everybody, those he sees.',
        filters: { service_type: oneOf(ofSettings('type'), 'Type of the service.'), ...filters },
        orderings: Object.keys(orderings),
        selectable: true,
        paginated: true,
        output: { status: 200, shape: { type: 'array', items: anyServices.shape } },
        handle: (request): Reply => {
          const types = request.query.all('service_type');
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
  summary(servicesOf(catalogue, catalogue.types[0] as ProviderType)),
  ...catalogue.types.flatMap((type) => withPing(catalogue, type)),
];
