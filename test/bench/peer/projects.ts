import type { Database } from 'better-sqlite3';
import { type Caller, seesAll } from './callers.ts';
import { datetime } from './database.ts';
import { eventRecorder } from './events.ts';
import { quotasOf } from './quotas.ts';

interface ProjectRow {
  readonly id: number;
  readonly uuid: string;
  readonly customer_id: number;
  readonly name: string;
  readonly description: string;
  readonly created: number;
}

interface CustomerRow {
  readonly uuid: string;
  readonly name: string;
  readonly native_name: string;
  readonly abbreviation: string;
  readonly contact_details: string;
}

export interface ProjectChange {
  readonly name?: string;
  readonly description?: string;
}

/** The columns of projects that an update needs. */
export function projectsOf(db: Database) {
  const find = db.prepare<[string], ProjectRow>('SELECT * FROM project WHERE uuid = ?');
  const customerOf = db.prepare<[number], CustomerRow>('SELECT * FROM customer WHERE id = ?');
  const owns = db
    .prepare<[number, number], number>(
      "SELECT 1 FROM customer_role WHERE customer_id = ? AND user_id = ? AND role = 'owner' AND ended IS NULL",
    )
    .pluck();
  const save = db.prepare('UPDATE project SET name = ?, description = ? WHERE id = ?');
  const certifications = db.prepare<
    [number],
    { uuid: string; name: string; description: string; link: string }
  >(`SELECT s.* FROM project_certification pc
    JOIN service_certification s ON s.id = pc.certification_id WHERE pc.project_id = ? ORDER BY s.name DESC`);
  const quotas = quotasOf(db);
  const record = eventRecorder(db);

  const represent = (base: string, row: ProjectRow, customer: CustomerRow) => ({
    url: `${base}/api/projects/${row.uuid}/`,
    uuid: row.uuid,
    name: row.name,
    customer: `${base}/api/customers/${customer.uuid}/`,
    customer_uuid: customer.uuid,
    customer_name: customer.name,
    customer_native_name: customer.native_name,
    customer_abbreviation: customer.abbreviation,
    description: row.description,
    quotas: quotas.list(base, 'project', row.id),
    services: [],
    created: datetime(row.created),
    certifications: certifications
      .all(row.id)
      .map(({ uuid, name, description, link }) => ({
        uuid,
        url: `${base}/api/service-certifications/${uuid}/`,
        name,
        description,
        link,
      })),
  });

  const change = db.transaction(
    (base: string, caller: Caller, address: string, uuid: string, changed: ProjectChange) => {
      const before = find.get(uuid);
      if (!before || !(seesAll(caller) || owns.get(before.customer_id, caller.id) !== undefined)) return undefined;
      const row = { ...before, ...changed };
      save.run(row.name, row.description, row.id);
      const customer = customerOf.get(row.customer_id) as CustomerRow;
      const changes = (['name', 'description'] as const)
        .filter((key) => before[key] !== row[key])
        .map(
          (key) =>
            ` ${key === 'name' ? 'Name' : 'Description'} has been changed from '${before[key]}' to '${row[key]}'.`,
        )
        .join('');
      if (changes !== '') {
        record('project_update_succeeded', `Project ${row.name} has been updated.${changes}`, {
          ip_address: address,
          user_uuid: caller.uuid,
          user_username: caller.username,
          user_full_name: caller.full_name,
          user_native_name: caller.native_name,
          project_uuid: row.uuid,
          project_name: row.name,
          customer_uuid: customer.uuid,
          customer_name: customer.name,
          customer_abbreviation: customer.abbreviation,
          customer_contact_details: customer.contact_details,
        });
      }
      return represent(base, row, customer);
    },
  );

  return {
    /** Returns the changed project; undefined if the caller may not change it. */
    change: (base: string, caller: Caller, address: string, uuid: string, changed: ProjectChange) =>
      change(base, caller, address, uuid, changed),
  };
}
