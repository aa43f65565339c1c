import { embeddedQuotas } from '../../../../activity/quotas/usage.ts';
import type { Request } from '../../../../kernel/access/request.ts';
import { Right, right } from '../../../../kernel/access/right.ts';
import { ownsCustomer } from '../../../../kernel/access/rights.ts';
import { customersWithRole, projectsWithRole } from '../../../../kernel/access/visibility.ts';
import { readOnly, readOnlyList, writeOnly } from '../../../../kernel/collection/field.ts';
import { computedValue, constant } from '../../../../kernel/collection/representation.ts';
import { text, withJson } from '../../../../kernel/collection/values.ts';
import { raw, type Sql, sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import { present } from '../../../../kernel/present.ts';
import type { PlainValues } from '../../../catalogue/driver.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { type CreationPlan, type NewResource, type ResourceLocation, resourceKind } from '../../../catalogue/type.ts';
import { placeOf } from '../../../resources/creation.ts';
import { relatedOfKinds, shownDetail } from '../../../resources/details.ts';
import { importParts } from '../../../resources/discovery.ts';
import { visibleResources } from '../../../resources/rights.ts';
import { administrationProject, defaultDomain } from '../api/options.ts';
import { firstLimits } from '../mapping/quotas.ts';
import { cidrField, nameserversOf, subnetValues } from '../network/network.ts';
import { firstGroups } from '../security-group/security-group.ts';
import { slug } from '../tenancy/tenancy.ts';
import { tenantActions } from './actions.ts';

const password = { characters: 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789', length: 20 };

/** Random characters of an alphabet, each as likely as any other. */
function randomText({ app }: Request, characters: string, length: number): string {
  let chosen = '';
  while (chosen.length < length) {
    const byte = present(app.random(1)[0]);
    if (byte < 256 - (256 % characters.length)) chosen += characters[byte % characters.length];
  }
  return chosen;
}

/** Who may change the tenant, if the deployment shows credentials. */
const toCredentialReaders = `@detail AND @credentials AND (
  @staff
  OR r.customer_id IN (${customersWithRole(raw('@caller')).text} AND role = 'owner')
  OR r.project_id IN (
    ${projectsWithRole(raw('@caller')).text} AND role IN ('admin', 'manager')))`;

const option = (name: string): string =>
  `(SELECT st.options ->> '$.${name}' FROM service_settings st WHERE st.id = r.settings_id)`;
/** Scheme and host of the backend; null on the simulator. */
const dashboard = `(
  SELECT concat(substr(st.backend_url, 1, instr(st.backend_url, '://') + 2), host.name, '/dashboard')
  FROM service_settings st, (
    SELECT substr(authority.text, 1, instr(concat(authority.text, ':'), ':') - 1) AS name FROM (
      SELECT substr(rest.text, 1, instr(concat(rest.text, '/'), '/') - 1) AS text FROM (
        SELECT substr(own.backend_url, instr(own.backend_url, '://') + 3) AS text
        FROM service_settings own WHERE own.id = r.settings_id) rest) authority) host
  WHERE st.id = r.settings_id AND st.backend_url LIKE 'http%')`;

/** A text that a creation can set, stored in details. */
const textDetail = (name: string, max: number, writing: { help?: string; shownIf?: string } = {}) =>
  withJson(text({ max, update: false, ...writing }), () => computedValue(`ifnull(r.details -> '$.${name}', '""')`));

const fields = {
  availability_zone: textDetail('availability_zone', 255),
  internal_network_id: shownDetail('internal_network_id', { type: 'string' }, '""'),
  external_network_id: shownDetail('external_network_id', { type: 'string' }, '""'),
  user_username: textDetail('user_username', 50, {
    help: 'User of the tenant; default: derived from its name.',
    shownIf: toCredentialReaders,
  }),
  user_password: readOnly('string', { type: 'string' }, constant('""'), {
    shownIf: `${toCredentialReaders} AND @passwords`,
  }),
  subnet_cidr: writeOnly(cidrField),
  quotas: readOnlyList(embeddedQuotas('resource', 'r.id')),
  extra_configuration: readOnly('nested object', { type: 'object', maxProperties: 0 }, constant('{}')),
};

interface Settings {
  readonly id: number;
  readonly backend_url: string | null;
  readonly domain: string | null;
  readonly options: string;
}

const settingsOf = ({ db }: Pick<Request, 'db'>, id: number): Settings =>
  db.one<Settings>(sql`SELECT id, backend_url, domain, options FROM service_settings WHERE id = ${id}`);

const taken = (name: string): string => `Name "${name}" is already registered. Please choose another one.`;

/**
 * Whether another tenant of the same provider and domain has this value, and whether the caller can see it. Simulated settings are
 * separate providers.
 */
function visibilityOfDuplicate(
  request: Request,
  settings: Settings,
  value: Sql,
  own = 0,
): 'visible' | 'hidden' | undefined {
  const { backend_url: url, domain, id } = settings;
  const same = /^https?:/i.test(url ?? '')
    ? sql`st.backend_url = ${url} AND ifnull(nullif(st.domain, ''), ${defaultDomain}) = ${domain || defaultDomain}`
    : sql`st.id = ${id}`;
  const isSeen = request.db.value<number>(sql`
    SELECT ${visibleResources(request.caller)} AS is_seen
    FROM resource r JOIN service_settings st ON st.id = r.settings_id
    WHERE r.kind = 'OpenStack.Tenant' AND r.id <> ${own} AND ${same} AND ${value}
    ORDER BY is_seen DESC LIMIT 1`);
  if (isSeen === undefined) return undefined;
  return isSeen ? 'visible' : 'hidden';
}

/** Rejects the name of a hidden tenant with the message for reserved names, so that callers do not learn that it exists. */
function rejectTakenName(request: Request, settings: Settings, name: string, own?: number): void {
  const duplicate = visibilityOfDuplicate(request, settings, sql`r.name = ${name}`, own);
  if (duplicate === 'visible') throw invalid({ name: [taken(name)] });
  if (duplicate === 'hidden' || name === administrationProject(JSON.parse(settings.options)))
    throw invalid({ name: ['Name cannot be used.'] });
}

function userName(request: Request, settings: Settings, input: string | undefined, name: string): string {
  const held = (username: string) =>
    visibilityOfDuplicate(request, settings, sql`r.details ->> '$.user_username' = ${username}`);
  if (!input) {
    for (;;) {
      const generated = `${slug(name).slice(0, 25)}-user-${randomText(request, 'abcdefghijklmnopqrstuvwxyz0123456789', 4)}`;
      if (held(generated) === undefined) return generated;
    }
  }
  const holding = held(input);
  if (input === 'admin' || input === 'service' || holding === 'hidden')
    throw invalid({ user_username: [`Name "${input}" cannot be used as tenant user username.`] });
  if (holding === 'visible') throw invalid({ user_username: [taken(input)] });
  return input;
}

function accept(request: Request, values: NewResource<typeof fields>, place: ResourceLocation): CreationPlan {
  const { availability_zone: zone, name, subnet_cidr: cidr, user_username: user } = values;
  const settings = settingsOf(request, place.settings);
  const chosen: Readonly<Record<string, string | undefined>> = JSON.parse(settings.options);
  rejectTakenName(request, settings, name);
  return {
    row: {
      availability_zone: zone || (chosen.availability_zone ?? ''),
      external_network_id: chosen.external_network_id ?? '',
      internal_network_id: '',
      user_username: userName(request, settings, user, name),
    },
    parameters: {
      slug: slug(name),
      subnet: subnetValues(cidr, nameserversOf(request, place.settings)),
      security_groups: firstGroups,
    },
    secrets: { user_password: randomText(request, password.characters, password.length) },
  };
}

const isShared = ({ db }: Pick<Request, 'db'>, settings: number): boolean =>
  db.value(sql`SELECT shared FROM service_settings WHERE id = ${settings}`) === 1;

/** Who can create tenants: on shared settings, staff. */
const makers = new Right<{ readonly service_project_link: number }>(
  'staff; on private settings owners of the customer, managers and administrators of the project',
  (request, { service_project_link: link }) =>
    request.caller.isStaff || !placeOf(request, link).isShared
      ? undefined
      : 'You do not have permissions to create tenant in this project using selected service.',
);

/** Who can delete tenants of shared settings: owners; managers and administrators only if the deployment allows it. */
const removers = right<ResourceRow>(
  'staff; owners of the customer; managers and administrators of the project on private settings, on shared ones with the setting manager_can_manage_tenants',
  (request, { customer_id: customer, settings_id: settings }) =>
    request.caller.isStaff ||
    request.config.manager_can_manage_tenants ||
    !isShared(request, settings) ||
    ownsCustomer(request.db, request.caller, customer),
);

/** Names of the kinds in a tenant for error messages, in order. */
const contents = [
  ['OpenStack.Instance', 'instances'],
  ['OpenStack.Snapshot', 'snapshots'],
  ['OpenStack.Volume', 'volumes'],
] as const;

function removalDenialReason({ db }: Request, tenant: ResourceRow): string | undefined {
  const kinds = db.values<string>(sql`SELECT DISTINCT kind FROM resource WHERE parent_id = ${tenant.id}`);
  const first = contents.find(([kind]) => kinds.includes(kind));
  return first && `Cannot delete tenant with existing ${first[1]}`;
}

/** OpenStack.Tenant (providers.md 4.3) */
export const tenant = resourceKind({
  name: 'Tenant',
  path: 'openstack-tenants',
  examples: { name: 'Production of Alice' },
  plural: 'tenants',
  category: 'private_clouds',
  runtime: {},
  fields,
  accessUrl: computedValue(`ifnull(json_quote(coalesce(${option('access_url')}, ${dashboard})), 'null')`),
  related: relatedOfKinds(
    { 'OpenStack.Instance': 'openstack-instances', 'OpenStack.Volume': 'openstack-volumes' },
    'x.parent_id = r.id',
  ),
  isCreatable: true,
  pushedFields: ['name', 'description'],
  shownSecrets: ['user_password'],
  creationRight: makers,
  accept,
  checkUpdate: (request, row, { name }) =>
    name !== undefined && rejectTakenName(request, settingsOf(request, row.settings_id), name, row.id),
  quotaDeltas: () => ({ service: { tenant_count: 1 } }),
  ownQuotas: { limits: firstLimits, areReported: true },
  deletion: { right: removers, removalDenialReason, removedTogether: (row) => sql`r.parent_id = ${row.id}` },
  limits: { delete: 25 },
  actions: tenantActions,
  importing: {
    onlyForStaff: true,
    fields: ['description'],
    accept: (request, object, place) => ({
      row: importedValues(object.values),
      afterInsert: (id) => importParts(request, { settings: place.settings, parent: id }),
    }),
  },
});

/** The password of a user created outside is unknown. */
const importedValues = (values: PlainValues): PlainValues => ({ user_username: values.user_username ?? '' });
