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
import { rowPage } from '../../kernel/collection/row-page.ts';
import { among, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden, invalid } from '../../kernel/http/error.ts';
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
const managedResourceShape = {
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
function listManaged(request: Request, service: ServiceRow): Reply {
  const from = sql`FROM resource r JOIN inventory i ON i.settings_id = r.settings_id AND i.kind = r.kind AND i.backend_id = r.backend_id
    JOIN project p ON p.id = r.project_id JOIN customer c ON c.id = r.customer_id
    WHERE r.service_id = ${service.id} AND NOT r.is_part AND ${visibleResources(request.caller)}`;
  const columns = raw(
    'r.uuid, r.name, r.kind AS resource_type, p.name AS project_name, p.uuid AS project_uuid, c.uuid AS customer_uuid, c.name AS customer_name',
  );
  const { headers, rows } = rowPage<object>(request, columns, from, raw('r.id'));
  return document(JSON.stringify(withChosen(request, rows)), headers);
}

interface InventoryRow {
  readonly kind: string;
  readonly backend_id: string;
  readonly name: string;
  readonly values: string;
}

const inventoryColumns = raw('i.kind, i.backend_id, i.name, i."values"');

/** Selects from the objects of the settings that can be imported. Further conditions can follow. */
const importableObjects = (catalogue: Catalogue, { settings_id: settings }: ServiceRow): Sql =>
  sql`FROM inventory i WHERE i.settings_id = ${settings} AND ${isImportable(catalogue)}`;

const importableKinds = ({ kinds }: Catalogue, of: ProviderType): TypedKind[] =>
  kinds.filter(({ kind, type }) => type === of && kind.importing);

const memberShape = { type: ['string', 'number', 'boolean', 'array', 'null'], items: text };

/** Representation of an importable object; kinds add members. */
const importableShape = (catalogue: Catalogue, type: ProviderType): JsonSchema => {
  const own = importableKinds(catalogue, type).flatMap((typed) =>
    (typed.kind.importing?.fields ?? []).map((name) => [name, memberShape]),
  );
  const known = { backend_id: text, name: text, resource_type: text, created: { type: ['string', 'null'] } };
  return { ...objectShape(known), properties: { ...known, ...Object.fromEntries(own) } };
};

/** Objects of the provider that are not resources here. */
function listImportable(request: Request, type: ProviderType, service: ServiceRow): Reply {
  const { app, query } = request;
  const { catalogue } = app;
  const requested = query.all('resource_type');
  const importable = importableKinds(catalogue, type);
  requireWords(request, 'resource_type', (word) => importable.some(({ name }) => name === word));
  const kinds = importable.filter(({ name }) => requested.length === 0 || requested.includes(name));
  const ofKinds = among(
    'i.kind',
    kinds.map(({ name }) => name),
  );
  const { headers, rows } = rowPage<InventoryRow>(
    request,
    inventoryColumns,
    sql`${importableObjects(catalogue, service)} AND ${ofKinds}`,
    raw('i.kind, i.name, i.backend_id'),
  );
  const items = rows.map(({ backend_id, kind, name, values }) => {
    const typed = catalogue.kind(kind).kind;
    const object: BackendObject = { kind: typed.name, backend_id, name, values: JSON.parse(values) };
    const known = { ...object.values, ...typed.importing?.item?.(request, object, service.settings_id) };
    const extra = Object.fromEntries((typed.importing?.fields ?? []).map((field) => [field, known[field] ?? null]));
    return { backend_id, name, resource_type: kind, created: known.created ?? null, ...extra };
  });
  const names = Object.keys(importableShape(catalogue, type).properties ?? {});
  return document(JSON.stringify(withChosen(request, items, names)), headers);
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

type ImportValues = NewValues<typeof importFields>;

/** Imports an object of the last synchronisation into a project. Responds with the new resource. Throws 400, 403. */
function importObject(request: Request, type: ProviderType, service: ServiceRow, values: ImportValues): Reply {
  const kind = chosenKind(request, type, values);
  const link = linkOf(request, service, values);
  if (kind.kind.importing?.onlyForStaff && !request.caller.isStaff) throw forbidden();
  const imported = insertImported(request, kind, findImportable(request, kind, service, values), link);
  evaluateImports(request, service.settings_id);
  const { created, name, state, url, uuid } = JSON.parse(collectionOf(kind).represent(request, imported.id));
  return json({ url, uuid, name, state, created });
}

/** Returns the kind in a body, which may omit it if the provider type has only one. Throws 400. */
function chosenKind({ app }: Request, type: ProviderType, { resource_type: requested }: ImportValues): TypedKind {
  const kinds = importableKinds(app.catalogue, type);
  if (kinds.length > 1 && !requested) throw invalid({ resource_type: ['This field is required.'] });
  const kind = requested ? kinds.find(({ name }) => name === requested) : kinds[0];
  if (!kind) throw invalid({ resource_type: [`"${requested}" is not a valid choice.`] });
  return kind;
}

/** Returns the id of the link between the service and the project in a body. Throws 400. */
function linkOf({ db }: Request, service: ServiceRow, { project }: ImportValues): number {
  const link = db.value<number>(
    sql`SELECT id FROM service_project_link WHERE service_id = ${service.id} AND project_id = ${project}`,
  );
  if (link === undefined) throw invalid({ project: ['Service is not connected to this project.'] });
  return link;
}

/** Returns the object in a body as the last synchronisation found it. Throws 400. */
function findImportable(
  { app, db }: Request,
  { kind, name: kindName }: TypedKind,
  service: ServiceRow,
  { backend_id: id }: ImportValues,
): BackendObject {
  const isLinked = db.value(
    sql`SELECT 1 FROM resource WHERE settings_id = ${service.settings_id} AND kind = ${kindName} AND backend_id = ${id}`,
  );
  if (isLinked) throw invalid({ backend_id: ['This resource is already linked.'] });
  const row = db.get<InventoryRow>(
    sql`SELECT ${inventoryColumns} ${importableObjects(app.catalogue, service)} AND i.kind = ${kindName} AND i.backend_id = ${id}`,
  );
  if (!row) throw invalid({ backend_id: [`Can't find ${kind.name.toLowerCase()} with ID ${id}`] });
  return { kind: kind.name, backend_id: row.backend_id, name: row.name, values: JSON.parse(row.values) };
}

/** Inserts an imported object as a resource, and records the event. Throws 409 if a quota is exceeded. */
function insertImported(request: Request, typed: TypedKind, object: BackendObject, linkId: number): ResourceRow {
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
  const importEndpoint = action({
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
  const listOperation: Operation = {
    summary: 'Lists objects of the provider that can be imported.',
    allowedFor: importAction.right.allowedFor,
    filters: { resource_type: parameter('string', 'Type of the resource.', true) },
    paginated: true,
    output: { status: 200, shape: { type: 'array', items: importableShape(catalogue, type) } },
    rejections: { 403: true },
    handle: (request) => {
      const service = services.find(request);
      importAction.right.require(request, service);
      return listImportable(request, type, service);
    },
  };
  const requireVisible = (request: Request): undefined => void services.find(request);
  const unlinkEndpoint = action({
    ...unlinkAction,
    on: services,
    summary: 'Removes a service and its resources here, without changes at the provider.',
    output: { status: 204 },
    run: unlink,
  }).endpoint;
  return [
    unlinkEndpoint,
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
          output: { status: 200, shape: { type: 'array', items: managedResourceShape } },
          handle: (request) => listManaged(request, services.find(request)),
        },
      },
    },
    importableKinds(catalogue, type).length > 0
      ? { ...importEndpoint, operations: { GET: listOperation, ...importEndpoint.operations } }
      : { path: importEndpoint.path, name: `${kind} Link`, description, actions: requireVisible, operations: {} },
  ];
}

/** Every action path of services. */
export const serviceActionEndpoints = (catalogue: Catalogue): readonly Endpoint[] =>
  catalogue.types.flatMap((type) => endpointsOf(catalogue, type));
