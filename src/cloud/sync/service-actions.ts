import { record } from '../../activity/events/record.ts';
import { requireQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated } from '../../kernel/access/right.ts';
import { action } from '../../kernel/collection/action.ts';
import type { Endpoint, Operation } from '../../kernel/collection/endpoint.ts';
import { type NewValues, objectShape, uuidShape } from '../../kernel/collection/field.ts';
import { parameter, requireWords } from '../../kernel/collection/filter.ts';
import { exampleLink, type JsonSchema } from '../../kernel/collection/json-schema.ts';
import { withChosen } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden, invalid } from '../../kernel/http/error.ts';
import { pageHeaders, pageOf } from '../../kernel/http/query.ts';
import { document, empty, json, type Reply } from '../../kernel/http/reply.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import type { BackendObject } from '../catalogue/driver.ts';
import { type ResourceRow, resourceStates } from '../catalogue/resource-row.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { hostReason } from '../resources/changes.ts';
import { quotaDeltasOfKnown } from '../resources/counting.ts';
import { placeOf } from '../resources/creation.ts';
import { collectionOf } from '../resources/kind-collection.ts';
import { resourceContext, resourceOf } from '../resources/resource.ts';
import { insertResource, removeResource } from '../resources/resource-store.ts';
import { visibleResources } from '../resources/rights.ts';
import { removeService } from '../services/service-lifecycle.ts';
import { importAction, type importFields, type ServiceRow, servicesOf, unlinkAction } from '../services/services.ts';
import { evaluateImports, isImportable } from './sync.ts';

/* Actions on a service: unlink it, and import objects of its provider (services.md 4.2). */

function unlink(request: Request, service: ServiceRow): Reply {
  const { db } = request;
  // Parts and children are removed before their parents; some removals cascade.
  for (const id of db.values<number>(sql`SELECT id FROM resource WHERE service_id = ${service.id} ORDER BY id DESC`)) {
    const row = resourceOf(db, id);
    const rejection = row && hostReason(request, row);
    if (rejection !== undefined) throw conflict(rejection);
    if (row) removeResource(request, row);
  }
  removeService(request, service.id);
  return empty();
}

const text = { type: 'string' };
const managedShape = {
  title: 'ManagedResource',
  ...objectShape({
    uuid: uuidShape,
    name: text,
    resource_type: text,
    project_name: text,
    project_uuid: uuidShape,
    customer_uuid: uuidShape,
    customer_name: text,
  }),
};

/** Visible resources of a service that the last synchronisation found at the provider. */
function managed(request: Request, service: ServiceRow): Reply {
  const { db, query } = request;
  const from = sql`FROM resource r JOIN inventory i ON i.settings_id = r.settings_id AND i.kind = r.kind AND i.backend_id = r.backend_id
    JOIN project p ON p.id = r.project_id JOIN customer c ON c.id = r.customer_id
    WHERE r.service_id = ${service.id} AND NOT r.is_part AND ${visibleResources(request.caller)}`;
  const total = db.count(sql`SELECT count(*) ${from}`);
  const page = pageOf(query, total);
  const rows =
    db.deferrableAll<object>(sql`SELECT r.uuid, r.name, r.kind AS resource_type, p.name AS project_name, p.uuid AS project_uuid, c.uuid AS customer_uuid, c.name AS customer_name
    ${from} ORDER BY r.id LIMIT ${page.size} OFFSET ${page.offset}`);
  return document(JSON.stringify(withChosen(request, rows)), pageHeaders(page, total, request.url, query));
}

interface InventoryRow {
  readonly kind: string;
  readonly backend_id: string;
  readonly name: string;
  readonly values: string;
}

const importableKinds = ({ kinds }: Catalogue, of: ProviderType): TypedKind[] =>
  kinds.filter(({ kind, type }) => type === of && kind.importing);

const reports = { type: ['string', 'number', 'boolean', 'array', 'null'], items: text };

/** Representation of an importable object; kinds add members. */
const candidateShape = (catalogue: Catalogue, type: ProviderType): JsonSchema => {
  const own = importableKinds(catalogue, type).flatMap((typed) =>
    (typed.kind.importing?.fields ?? []).map((name) => [name, reports]),
  );
  const known = { backend_id: text, name: text, resource_type: text, created: { type: ['string', 'null'] } };
  return { ...objectShape(known), properties: { ...known, ...Object.fromEntries(own) } };
};

/** Objects of the provider that are not resources here. */
function candidates(request: Request, type: ProviderType, service: ServiceRow): Reply {
  const { db, app, query } = request;
  const { catalogue } = app;
  const requested = query.all('resource_type');
  const importable = importableKinds(catalogue, type);
  requireWords(request, 'resource_type', (word) => importable.some(({ name }) => name === word));
  const kinds = importable.filter(({ name }) => requested.length === 0 || requested.includes(name));
  const from = sql`FROM inventory i WHERE i.settings_id = ${service.settings_id} AND i.kind IN (SELECT value FROM json_each(${JSON.stringify(kinds.map(({ name }) => name))}))
    AND ${isImportable(catalogue)}`;
  const total = db.count(sql`SELECT count(*) ${from}`);
  const page = pageOf(query, total);
  const rows = db.deferrableAll<InventoryRow>(
    sql`SELECT i.kind, i.backend_id, i.name, i."values" ${from} ORDER BY i.kind, i.name, i.backend_id LIMIT ${page.size} OFFSET ${page.offset}`,
  );
  const items = rows.map(({ backend_id, kind, name, values }) => {
    const typed = catalogue.kind(kind).kind;
    const object: BackendObject = { kind: typed.name, backend_id, name, values: JSON.parse(values) };
    const known = { ...object.values, ...typed.importing?.item?.(request, object, service.settings_id) };
    const extra = Object.fromEntries((typed.importing?.fields ?? []).map((field) => [field, known[field] ?? null]));
    return { backend_id, name, resource_type: kind, created: known.created ?? null, ...extra };
  });
  const names = Object.keys(candidateShape(catalogue, type).properties ?? {});
  return document(JSON.stringify(withChosen(request, items, names)), pageHeaders(page, total, request.url, query));
}

const importedShape = {
  title: 'ImportedResource',
  ...objectShape({
    url: { type: 'string', format: 'uri' },
    uuid: uuidShape,
    name: text,
    state: { type: 'string', enum: resourceStates },
    created: { type: 'string', format: 'date-time' },
  }),
};

function importObject(
  request: Request,
  type: ProviderType,
  service: ServiceRow,
  values: NewValues<typeof importFields>,
): Reply {
  const { db, app } = request;
  const { catalogue } = app;
  const kinds = importableKinds(catalogue, type);
  if (kinds.length > 1 && !values.resource_type) throw invalid({ resource_type: ['This field is required.'] });
  const typed = values.resource_type ? kinds.find(({ name }) => name === values.resource_type) : kinds[0];
  if (!typed) throw invalid({ resource_type: [`"${values.resource_type}" is not a valid choice.`] });
  const linkId = db.value<number>(
    sql`SELECT id FROM service_project_link WHERE service_id = ${service.id} AND project_id = ${values.project}`,
  );
  if (linkId === undefined) throw invalid({ project: ['Service is not connected to this project.'] });
  if (typed.kind.importing?.onlyForStaff && !request.caller.isStaff) throw forbidden();
  if (
    db.value(
      sql`SELECT 1 FROM resource WHERE settings_id = ${service.settings_id} AND kind = ${typed.name} AND backend_id = ${values.backend_id}`,
    )
  ) {
    throw invalid({ backend_id: ['This resource is already linked.'] });
  }
  const row = db.get<InventoryRow>(sql`SELECT i.kind, i.backend_id, i.name, i."values" FROM inventory i
    WHERE i.settings_id = ${service.settings_id} AND i.kind = ${typed.name} AND i.backend_id = ${values.backend_id} AND ${isImportable(catalogue)}`);
  if (!row) throw invalid({ backend_id: [`Can't find ${typed.kind.name.toLowerCase()} with ID ${values.backend_id}`] });
  const imported = store(
    request,
    typed,
    { kind: typed.kind.name, backend_id: row.backend_id, name: row.name, values: JSON.parse(row.values) },
    linkId,
  );
  evaluateImports(request, service.settings_id);
  const represented: Readonly<Record<string, unknown>> = JSON.parse(
    collectionOf(typed).represent(request, imported.id),
  );
  const { created, name, state, url, uuid } = represented;
  return json({ url, uuid, name, state, created });
}

function store(request: Request, typed: TypedKind, object: BackendObject, linkId: number): ResourceRow {
  const place = placeOf(request, linkId);
  const { created: _, ...values } = object.values;
  const acceptance = typed.kind.importing?.accept?.(request, object, place) ?? { row: {} };
  const row = { ...values, ...acceptance.row, name: object.name, backend_id: object.backend_id };
  const draft = {
    cores: 0,
    ram: 0,
    disk: 0,
    size: 0,
    parent_id: null,
    details: JSON.stringify(row),
    ...row,
    kind: typed.name,
    link_id: place.link,
    service_id: place.service,
    settings_id: place.settings,
    project_id: place.project,
    customer_id: place.customer,
  };
  // Not stored yet, but complete enough for counting quotas.
  requireQuotas(request, quotaDeltasOfKnown(request.app.catalogue, draft as unknown as ResourceRow));
  const imported = insertResource(request, { kind: typed.name, ...place, state: 'OK', values: row });
  acceptance.afterInsert?.(imported.id);
  record(request, 'resource_import_succeeded', resourceContext(request.db, imported));
  return imported;
}

function endpointsOf(catalogue: Catalogue, type: ProviderType): Endpoint[] {
  const services = servicesOf(catalogue, type);
  const kind = `${type.name} Service`;
  const description = 'Objects of the provider that can be imported.';
  const importer = action({
    ...importAction,
    on: services,
    summary: 'Imports an object of the provider.',
    description,
    example: {
      backend_id: '1000001',
      project: exampleLink('projects'),
      resource_type: importableKinds(catalogue, type)[0]?.name,
    },
    output: { status: 200, shape: importedShape },
    run: (request, service, values) => importObject(request, type, service, values),
  }).endpoint;
  const importable: Operation = {
    summary: 'Lists objects of the provider that can be imported.',
    allowedFor: importAction.right.allowedFor,
    filters: { resource_type: parameter('string', 'Type of the resource.', true) },
    paginated: true,
    output: { status: 200, shape: { type: 'array', items: candidateShape(catalogue, type) } },
    rejections: { 403: true },
    handle: (request) => {
      const service = services.find(request);
      importAction.right.require(request, service);
      return candidates(request, type, service);
    },
  };
  const requireVisible = (request: Request): undefined => void services.find(request);
  const unlinking = action({
    ...unlinkAction,
    on: services,
    summary: 'Removes a service and its resources here, without changes at the provider.',
    output: { status: 204 },
    run: unlink,
  }).endpoint;
  return [
    unlinking,
    {
      path: `/api/${type.prefix}/:key/managed_resources/`,
      name: `${type.name} Managed Resources`,
      description: 'Resources of the service that exist at its provider.',
      actions: requireVisible,
      operations: {
        GET: {
          summary: 'Lists resources of the service that exist at its provider.',
          allowedFor: authenticated.as('callers who can see the service').allowedFor,
          paginated: true,
          output: { status: 200, shape: { type: 'array', items: managedShape } },
          handle: (request) => managed(request, services.find(request)),
        },
      },
    },
    importableKinds(catalogue, type).length > 0
      ? { ...importer, operations: { GET: importable, ...importer.operations } }
      : { path: importer.path, name: `${kind} Link`, description, actions: requireVisible, operations: {} },
  ];
}

/** Every action path of services. */
export const serviceActionEndpoints = (catalogue: Catalogue): readonly Endpoint[] =>
  catalogue.types.flatMap((type) => endpointsOf(catalogue, type));
