import { record } from '../../activity/events/record.ts';
import { type Demand, requireQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Fields, Values } from '../../kernel/collection/field.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden, invalid } from '../../kernel/http/error.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { Acceptance, Attached, Place } from '../catalogue/type.ts';
import { queueJob } from '../jobs/jobs.ts';
import { type InjectedKey, injectedKey } from '../keys/injected-key.ts';
import { demandsOf } from './counting.ts';
import { resourceContext } from './resource.ts';
import { mayChangeResources } from './rights.ts';
import { insertResource } from './rows.ts';
import { replaceTags } from './tags.ts';

/** Where a link puts resources. */
export function placeOf({ db }: Pick<Request, 'db'>, link: number): Place {
  const row = db.get<Omit<Place, 'isShared'> & { shared: number }>(sql`
    SELECT l.id AS link, v.id AS service, v.settings_id AS settings, p.id AS project, p.customer_id AS customer, st.shared
    FROM service_project_link l JOIN service v ON v.id = l.service_id JOIN service_settings st ON st.id = v.settings_id JOIN project p ON p.id = l.project_id
    WHERE l.id = ${link}`) as Omit<Place, 'isShared'> & { shared: number };
  const { shared, ...place } = row;
  return { ...place, isShared: shared === 1 };
}

/** What certifications the settings lack for the project: the text of services.md 2.6, empty when none. */
export function validationMessage({ db }: Pick<Request, 'db'>, place: Pick<Place, 'project' | 'settings'>): string {
  const missing =
    db.values<string>(sql`SELECT s.name FROM project_certification pc JOIN service_certification s ON s.id = pc.certification_id
    WHERE pc.project_id = ${place.project} AND s.id NOT IN (SELECT certification_id FROM settings_certification WHERE settings_id = ${place.settings}) ORDER BY s.name`);
  return missing.length === 0
    ? ''
    : `Provider does not match with project's security policy. Certifications are missing: "${missing.join(', ')}"`;
}

/** Accepts or refuses a creation: the rules of the kind, then the right, the state of the settings, and the quotas. */
export function createResource(request: Request, typed: TypedKind, values: Values<Fields>): ResourceRow {
  const place = placeOf(request, values.service_project_link as number);
  const message = validationMessage(request, place);
  if (message !== '') throw invalid({ service_project_link: [message] });
  const { kind } = typed;
  const accepted = kind.accept?.(request, values, place) ?? { row: {} };
  if (!mayChangeResources(request, place.project, place.customer)) throw forbidden();
  const refusal = kind.refuseCreation?.(request, values as PlainValues);
  if (refusal !== undefined) throw forbidden(refusal);
  const key = injectedKey(request, values.ssh_public_key);
  const acceptance = {
    ...accepted,
    row: { ...ownValues(values, key), ...accepted.row },
    parameters: { ...(key && { key }), ...accepted.parameters },
  };
  return storeResource(request, typed, place, acceptance, values.tags as readonly string[] | undefined);
}

/** Stores an accepted resource and queues its creation at the provider. Throws 409. */
export function storeResource(
  request: Request,
  typed: TypedKind,
  place: Place,
  acceptance: Acceptance,
  tags: readonly string[] = [],
): ResourceRow {
  const { db, deployment } = request;
  if (db.value(sql`SELECT state FROM service_settings WHERE id = ${place.settings}`) === 'Erred') {
    throw conflict('Cannot create resource if its service is in erred state.');
  }
  // Quotas are judged before anything is counted; drafts are the rows as they would be.
  requireQuotas(request, [
    ...demandsOf(deployment.catalogue, draft(typed.name, place, acceptance.row)),
    ...demandsOfAttached(deployment.catalogue, place, acceptance.attached),
  ]);
  const row = insertResource(request, {
    kind: typed.name,
    ...place,
    state: 'Creation Scheduled',
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

/** The same for a resource of a kind that is made of another, in the same place. */
export const makeResource = (request: Request, kind: string, of: ResourceRow, acceptance: Acceptance): ResourceRow =>
  storeResource(request, request.deployment.catalogue.kind(kind), placeOf(request, of.link_id), acceptance);

/** What rows that are made with another will add to quotas. */
export const demandsOfAttached = (catalogue: Catalogue, place: Place, attached: readonly Attached[] = []): Demand[] =>
  attached.flatMap(({ kind, values }) => demandsOf(catalogue, draft(kind, place, values)));

/** Stores the rows that are made with another, attached to it; its operation creates them. */
export function storeAttached(
  request: Request,
  place: Place,
  to: ResourceRow,
  attached: readonly Attached[] = [],
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

function draft(kind: string, place: Place, values: PlainValues): ResourceRow {
  return {
    cores: 0,
    ram: 0,
    disk: 0,
    size: 0,
    parent_id: null,
    instance_id: null,
    details: JSON.stringify(values.details ?? values),
    ...values,
    kind,
    link_id: place.link,
    service_id: place.service,
    settings_id: place.settings,
    project_id: place.project,
    customer_id: place.customer,
  } as unknown as ResourceRow;
}

/** What every kind keeps of a body: name, description, user data, and the key to inject. */
function ownValues(values: Values<Fields>, key: InjectedKey | undefined): PlainValues {
  const { description, name, user_data: userData } = values as Record<string, unknown>;
  return { name, description, user_data: userData, key_name: key?.name, key_fingerprint: key?.fingerprint };
}
