import { record } from '../../activity/events/record.ts';
import { type QuotaDelta, requireQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import { narrowed, rightVia } from '../../kernel/access/right.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import type { CollectionSpec } from '../../kernel/collection/collection.ts';
import type { NewValues } from '../../kernel/collection/field.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { AttachedResource, CreationPlan, ResourceLocation } from '../catalogue/type.ts';
import { queueJob } from '../operations/jobs.ts';
import { type InjectedKey, injectedKey } from '../people/injected-key.ts';
import { quotaDeltasOf } from './counting.ts';
import { fieldsOfKind, type KindFields } from './fields.ts';
import { resourceContext } from './resource.ts';
import { insertResource } from './resource-store.ts';
import { type ResourcePlace, resourceWriters } from './rights.ts';
import { replaceTags } from './tags.ts';

/** The body of a creation with its resolved values: the place of the resource, and values derived by the kind. */
export interface NewOfKind {
  readonly values: NewValues<KindFields>;
  readonly place: ResourceLocation;
  readonly acceptance: CreationPlan;
}

/** The declaration of the collection of a kind. */
export type KindSpec = CollectionSpec<KindFields, ResourceRow, NewOfKind>;

/** Returns the place of a link's resources. */
export function placeOf({ db }: Pick<Request, 'db'>, link: number): ResourceLocation {
  const { shared, ...place } = db.one<Omit<ResourceLocation, 'isShared'> & { shared: number }>(sql`
    SELECT l.id AS link, v.id AS service, v.settings_id AS settings, p.id AS project, p.customer_id AS customer, st.shared
    FROM service_project_link l
      JOIN service v ON v.id = l.service_id
      JOIN service_settings st ON st.id = v.settings_id
      JOIN project p ON p.id = l.project_id
    WHERE l.id = ${link}`);
  return { ...place, isShared: shared === 1 };
}

/** Returns the message about certifications that the settings lack for the project (services.md 2.6); empty if none. */
function validationMessage({ db }: Pick<Request, 'db'>, place: Pick<ResourceLocation, 'project' | 'settings'>): string {
  const missing = db.values<string>(sql`
    SELECT s.name
    FROM project_certification pc JOIN service_certification s ON s.id = pc.certification_id
    WHERE pc.project_id = ${place.project}
      AND s.id NOT IN (SELECT certification_id FROM settings_certification WHERE settings_id = ${place.settings})
    ORDER BY s.name`);
  return missing.length === 0
    ? ''
    : `Provider does not match with project's security policy. Certifications are missing: "${missing.join(', ')}"`;
}

const placeAsRow = ({ place }: NewOfKind): ResourcePlace => ({
  customer_id: place.customer,
  project_id: place.project,
});

const placeWriters = rightVia(placeAsRow, resourceWriters);

/** Declares creation: checks the kind's rules, then the right, the state of the settings, and the quotas. */
export function creationOf(typed: TypedKind): NonNullable<KindSpec['create']> {
  const { kind, type } = typed;
  const { create: body, name: named } = kind.examples ?? {};
  const example = body && {
    name: named,
    service_project_link: exampleLink(`${type.prefix}-service-project-link`),
    ...body,
  };
  return {
    input: { fields: fieldsOfKind(typed), purpose: 'create', ...(example && { example }) },
    accept: (request, values) => {
      const place = placeOf(request, values.service_project_link);
      const message = validationMessage(request, place);
      if (message !== '') throw invalid({ service_project_link: [message] });
      return { values, place, acceptance: kind.accept?.(request, values, place) ?? { row: {} } };
    },
    rightWith: kind.creationRight
      ? narrowed(
          placeWriters,
          rightVia(({ values }: NewOfKind) => values, kind.creationRight),
        )
      : placeWriters,
    run: (request, { acceptance, place, values }, columns) => {
      const reports: PlainValues = values;
      const key = injectedKey(request, reports.ssh_public_key);
      const row = { ...ownValues(reports, key), ...acceptance.row };
      const parameters = { ...(key && { key }), ...acceptance.parameters };
      return storeResource(request, typed, place, { ...acceptance, row, parameters }, { columns, tags: values.tags })
        .id;
    },
  };
}

/**
 * Stores an accepted resource and queues its creation at the provider. `columns` has the columns from the body, before the kind
 * resolves it. Throws 409.
 */
function storeResource(
  request: Request,
  typed: TypedKind,
  place: ResourceLocation,
  acceptance: CreationPlan,
  { columns, tags = [] }: { readonly columns?: Columns; readonly tags?: readonly string[] | undefined } = {},
): ResourceRow {
  const { db, app } = request;
  if (db.value(sql`SELECT state FROM service_settings WHERE id = ${place.settings}`) === 'Erred') {
    throw conflict('Cannot create resource if its service is in erred state.');
  }
  // Check quotas before counting anything. Drafts are the future rows.
  requireQuotas(request, [
    ...quotaDeltasOf(app.catalogue, draft(typed.name, place, acceptance.row)),
    ...quotaDeltasOfAttached(app.catalogue, place, acceptance.attached),
  ]);
  const row = insertResource(request, {
    kind: typed.name,
    ...place,
    state: 'Creation Scheduled',
    columns,
    values: acceptance.row,
    secrets: acceptance.secrets,
  });
  replaceTags(db, row.id, tags);
  acceptance.afterInsert?.(row.id);
  storeAttached(request, place, row, acceptance.attached);
  queueJob(request, {
    settings: place.settings,
    resource: row,
    operation: 'create',
    parameters: acceptance.parameters,
    secrets: acceptance.secrets,
  });
  record(request, 'resource_creation_scheduled', resourceContext(db, row));
  return row;
}

/** Does the same for a resource created from another one, in the same place. */
export const makeResource = (request: Request, kind: string, of: ResourceRow, acceptance: CreationPlan): ResourceRow =>
  storeResource(request, request.app.catalogue.kind(kind), placeOf(request, of.link_id), acceptance);

/** Returns the quotas of rows created together with a resource. */
export const quotaDeltasOfAttached = (
  catalogue: Catalogue,
  place: ResourceLocation,
  attached: readonly AttachedResource[] = [],
): QuotaDelta[] => attached.flatMap(({ kind, values }) => quotaDeltasOf(catalogue, draft(kind, place, values)));

/** Stores rows created together with a resource and attached to it. Its operation creates them at the provider. */
export function storeAttached(
  request: Request,
  place: ResourceLocation,
  to: ResourceRow,
  attached: readonly AttachedResource[] = [],
): void {
  for (const { kind, uuid, values } of attached) {
    const row = insertResource(request, {
      kind,
      uuid,
      ...place,
      state: 'Creation Scheduled',
      values: { ...values, instance_id: to.id },
    });
    record(request, 'resource_creation_scheduled', resourceContext(request.db, row));
  }
}

/** Returns the future row of a new resource, with the columns that quotas depend on. */
const draft = (kind: string, place: ResourceLocation, values: PlainValues): ResourceRow => ({
  id: 0,
  uuid: '',
  is_part: 0,
  parent_id: null,
  instance_id: null,
  name: '',
  description: '',
  backend_name: '',
  backend_description: '',
  state: 'Creation Scheduled',
  runtime_state: '',
  error_message: '',
  backend_id: '',
  action: '',
  start_time: null,
  cores: 0,
  ram: 0,
  disk: 0,
  size: 0,
  details: JSON.stringify(values.details ?? values),
  secrets: null,
  revision: 0,
  ...values,
  kind,
  link_id: place.link,
  service_id: place.service,
  settings_id: place.settings,
  project_id: place.project,
  customer_id: place.customer,
});

/** Returns the values that every kind stores: name, description, user data, and the key to inject. */
const ownValues = (
  { description, name, user_data: userData }: PlainValues,
  key: InjectedKey | undefined,
): PlainValues => ({ name, description, user_data: userData, key_name: key?.name, key_fingerprint: key?.fingerprint });
