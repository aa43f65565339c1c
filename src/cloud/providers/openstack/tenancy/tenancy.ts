import type { Request } from '../../../../kernel/access/request.ts';
import { type Field, optional, readOnly, readOnlyText } from '../../../../kernel/collection/field.ts';
import { type Filters, linked, uuidOf } from '../../../../kernel/collection/filter.ts';
import { link } from '../../../../kernel/collection/links.ts';
import { notNullText, optionalLink, textValue } from '../../../../kernel/collection/representation.ts';
import { type Sql, sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import { present } from '../../../../kernel/present.ts';
import type { BackendObject, PlainValues } from '../../../catalogue/driver.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import type { CreationPlan, ResourceKind, ResourceLocation } from '../../../catalogue/type.ts';
import { detail, ofParent, resourceTarget } from '../../../resources/details.ts';
import { knownResource } from '../../../resources/resource.ts';

/*
 * Common to all kinds in a tenant (providers.md 4.2): the tenant, and relations to other objects of the same tenant. Relations
 * are stored as the provider's ids, so that they also work for imported objects.
 */

const tenantPath = 'openstack-tenants';

/** Members about the tenant. */
export const tenantFields = {
  tenant: readOnly('field', { type: ['string', 'null'], format: 'uri' }, optionalLink(tenantPath, ofParent('uuid'))),
  tenant_name: readOnlyText(notNullText(ofParent('name'))),
  tenant_uuid: readOnlyText(textValue(ofParent('uuid'))),
};

/** The same for kinds whose creation names the tenant; the default is from `chosenTenant`. */
export const chosenTenantFields = (help: string) => ({
  ...tenantFields,
  tenant: {
    ...optional(
      link({
        required: true,
        update: false,
        to: resourceTarget('OpenStack.Tenant', tenantPath),
        key: ofParent('uuid'),
      }),
    ),
    help,
    json: tenantFields.tenant.json,
  },
});

export const tenantFilters: Filters = {
  tenant: linked('r.parent_id', 'resource', () => ({ path: tenantPath })),
  tenant_uuid: uuidOf('r.parent_id', 'resource'),
};

/** Shared declarations of kinds in a tenant. */
export const belowTenant = {
  references: { parent_id: { value: 'tenant_backend_id', kind: 'OpenStack.Tenant' } },
  pushedFields: ['name', 'description'],
} as const satisfies Partial<ResourceKind>;

/** The same for kinds that can be attached to an instance. */
export const attachable = {
  ...belowTenant,
  references: { ...belowTenant.references, instance_id: { value: 'instance_backend_id', kind: 'OpenStack.Instance' } },
} as const satisfies Partial<ResourceKind>;

/**
 * The tenant that a new object goes to: the one that the body names, else that of its first subnet, else the only one of the
 * link that is ready. Throws 400 when it is of another link or not ready, and when none or several could be meant.
 */
export function chosenTenant(
  request: Pick<Request, 'db'>,
  input: { readonly tenant?: number; readonly internal_ips_set?: readonly ResourceRow[] },
  place: { readonly link: number },
): ResourceRow {
  if (input.tenant !== undefined) return readyTenant(knownResource(request.db, input.tenant), place, 'tenant');
  const subnet = input.internal_ips_set?.[0];
  return subnet ? readyTenant(tenantOf(request, subnet), place, 'internal_ips_set') : onlyTenant(request, place);
}

/** Throws 400 on the field that the tenant comes from. */
function readyTenant(tenant: ResourceRow, place: { readonly link: number }, field: string): ResourceRow {
  if (tenant.link_id !== place.link)
    throw invalid({ [field]: ['Tenant should belong to the same service project link.'] });
  if (tenant.state !== 'OK') throw invalid({ [field]: ['Tenant is not ready.'] });
  return tenant;
}

function onlyTenant(request: Pick<Request, 'db'>, { link: id }: { readonly link: number }): ResourceRow {
  const [tenant, another] = rowsWhere(request, 'OpenStack.Tenant', sql`r.link_id = ${id} AND r.state = 'OK'`);
  if (!tenant) throw invalid({ tenant: ['No tenant of the service project link is ready.'] });
  if (another) throw invalid({ tenant: ['The service project link has several tenants: name one.'] });
  return tenant;
}

/** The tenant of a resource. */
export const tenantOf = ({ db }: Pick<Request, 'db'>, resource: Pick<ResourceRow, 'parent_id'>): ResourceRow =>
  knownResource(db, present(resource.parent_id));

/** A detail of a resource. The caller must name the type that the kind stores. */
export function detailOf<T>(resource: Pick<ResourceRow, 'details'>, name: string): T | undefined {
  const details: Readonly<Record<string, T | undefined>> = JSON.parse(resource.details);
  return details[name];
}

/** SQL of a column of the object whose provider id is in a detail. */
export const related = (kind: string, name: string, column: string): string =>
  `(SELECT n.${column} FROM resource n
    WHERE n.settings_id = r.settings_id AND n.kind = '${kind}'
      AND n.backend_id = ${detail(name)} AND n.backend_id <> '')`;

/** Link, uuid and name of such an object. */
export const relatedLink = (kind: string, path: string, name: string): Field<never> =>
  readOnly('field', { type: ['string', 'null'], format: 'uri' }, optionalLink(path, related(kind, name, 'uuid')));

/** Filters by such an object: its link, its uuid. */
export const relatedFilters = (filter: string, kind: string, path: string, name: string): Filters => ({
  [filter]: linked(related(kind, name, 'id'), 'resource', () => ({ path })),
  [`${filter}_uuid`]: uuidOf(related(kind, name, 'id'), 'resource'),
});

/** Resources of a kind that satisfy a condition on `r`. */
export const rowsWhere = ({ db }: Pick<Request, 'db'>, kind: string, condition: Sql): ResourceRow[] =>
  db.all<ResourceRow>(sql`SELECT r.* FROM resource r WHERE r.kind = ${kind} AND ${condition} ORDER BY r.id`);

/** Text as part of a name at the provider: lower-case latin letters, digits and dashes. */
export const slug = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'tenant';

/** The tenant of an importable object, if it has a row. */
export const tenantOfItem = ({ db }: Pick<Request, 'db'>, object: BackendObject, settings: number): PlainValues => ({
  tenant_uuid:
    db.value<string>(sql`
      SELECT uuid FROM resource
      WHERE settings_id = ${settings} AND kind = 'OpenStack.Tenant'
        AND backend_id = ${String(object.values.tenant_backend_id ?? '')} AND backend_id <> ''`) ?? null,
});

/** Only objects of known tenants can be imported, into the project of the tenant. Throws 400. */
export function importIntoTenant(
  { db }: Pick<Request, 'db'>,
  object: BackendObject,
  place: ResourceLocation,
): CreationPlan {
  const tenant = String(object.values.tenant_backend_id ?? '');
  const parent = db.value<number>(sql`
    SELECT id FROM resource
    WHERE link_id = ${place.link} AND kind = 'OpenStack.Tenant' AND backend_id = ${tenant} AND backend_id <> ''`);
  if (parent === undefined) throw invalid({ backend_id: [`You must import tenant with ID ${tenant} first`] });
  return { row: { parent_id: parent } };
}
