import type { Database } from 'better-sqlite3';
import { countryName } from '../../../src/accounts/customers/countries.ts';
import { type Caller, seesAll } from './callers.ts';
import { datetime, newUuid, now } from './database.ts';
import { eventRecorder } from './events.ts';
import { quotasOf } from './quotas.ts';

interface CustomerRow {
  readonly id: number;
  readonly uuid: string;
  readonly created: number;
  readonly name: string;
  readonly native_name: string;
  readonly abbreviation: string;
  readonly contact_details: string;
  readonly agreement_number: number | null;
  readonly email: string;
  readonly phone_number: string;
  readonly registration_code: string;
  readonly country: string;
  readonly vat_code: string;
  readonly is_company: number;
}

interface UserRow {
  readonly uuid: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
}

export interface NewCustomer {
  readonly name: string;
  readonly native_name?: string;
  readonly abbreviation?: string;
  readonly contact_details?: string;
  readonly email?: string;
  readonly phone_number?: string;
  readonly country?: string;
}

/** The limit of customers is reached. */
export class QuotaExceeded extends Error {}

const connected = `SELECT customer_id FROM customer_role WHERE user_id = :caller AND ended IS NULL
  UNION SELECT p.customer_id FROM project_role r JOIN project p ON p.id = r.project_id WHERE r.user_id = :caller AND r.ended IS NULL`;
const connectedProjects = `SELECT project_id FROM project_role WHERE user_id = :caller AND ended IS NULL
  UNION SELECT p.id FROM customer_role r JOIN project p ON p.customer_id = r.customer_id WHERE r.user_id = :caller AND r.ended IS NULL`;
const byName = 'ORDER BY name COLLATE NOCASE, id';

/** Returns customers, each read with one query per relation. */
export function customersOf(db: Database) {
  const countAll = db.prepare<[], number>('SELECT count(*) FROM customer').pluck();
  const countMine = db
    .prepare<[{ caller: number }], number>(`SELECT count(*) FROM customer WHERE id IN (${connected})`)
    .pluck();
  const pageOfAll = db.prepare<[{ limit: number; offset: number }], CustomerRow>(
    `SELECT * FROM customer ${byName} LIMIT :limit OFFSET :offset`,
  );
  const pageOfMine = db.prepare<[{ caller: number; limit: number; offset: number }], CustomerRow>(
    `SELECT * FROM customer WHERE id IN (${connected}) ${byName} LIMIT :limit OFFSET :offset`,
  );
  const findAny = db.prepare<[string], CustomerRow>('SELECT * FROM customer WHERE uuid = ?');
  const findMine = db.prepare<[{ uuid: string; caller: number }], CustomerRow>(
    `SELECT * FROM customer WHERE uuid = :uuid AND id IN (${connected})`,
  );
  const findById = db.prepare<[number | bigint], CustomerRow>('SELECT * FROM customer WHERE id = ?');
  const allProjects = db.prepare<[number], { uuid: string; name: string }>(
    `SELECT uuid, name FROM project WHERE customer_id = ? ${byName}`,
  );
  const myProjects = db.prepare<[{ customer: number; caller: number }], { uuid: string; name: string }>(
    `SELECT uuid, name FROM project WHERE customer_id = :customer AND id IN (${connectedProjects}) ${byName}`,
  );
  const members = db.prepare<[number, string], UserRow>(`SELECT u.uuid, u.username, u.full_name, u.native_name
    FROM customer_role r JOIN user u ON u.id = r.user_id WHERE r.customer_id = ? AND r.role = ? AND r.ended IS NULL ORDER BY u.username COLLATE NOCASE, u.id`);
  const image = db.prepare<[number], number>('SELECT 1 FROM customer_image WHERE customer_id = ?').pluck();
  const insert =
    db.prepare(`INSERT INTO customer (uuid, created, name, native_name, abbreviation, contact_details, email, phone_number, country)
    VALUES (:uuid, :created, :name, :native_name, :abbreviation, :contact_details, :email, :phone_number, :country)`);
  const quotas = quotasOf(db);
  const record = eventRecorder(db);

  const users = (base: string, customer: number, role: string) =>
    members
      .all(customer, role)
      .map(({ uuid, username, full_name, native_name }) => ({
        url: `${base}/api/users/${uuid}/`,
        uuid,
        username,
        full_name,
        native_name,
      }));

  const represent = (base: string, caller: Caller, row: CustomerRow) => {
    const url = `${base}/api/customers/${row.uuid}/`;
    const projects = seesAll(caller)
      ? allProjects.all(row.id)
      : myProjects.all({ customer: row.id, caller: caller.id });
    return {
      url,
      uuid: row.uuid,
      created: datetime(row.created),
      name: row.name,
      native_name: row.native_name,
      abbreviation: row.abbreviation,
      contact_details: row.contact_details,
      agreement_number: row.agreement_number,
      email: row.email,
      phone_number: row.phone_number,
      projects: projects.map(({ uuid, name }) => ({ url: `${base}/api/projects/${uuid}/`, uuid, name })),
      owners: users(base, row.id, 'owner'),
      support_users: users(base, row.id, 'support'),
      registration_code: row.registration_code,
      quotas: quotas.list(base, 'customer', row.id),
      image: image.get(row.id) === undefined ? null : `${url}image/`,
      country: row.country,
      country_name: countryName(row.country),
      vat_code: row.vat_code,
      is_company: row.is_company === 1,
    };
  };

  const create = db.transaction((caller: Caller, address: string, values: NewCustomer): CustomerRow => {
    const id = insert.run({
      native_name: '',
      abbreviation: '',
      contact_details: '',
      email: '',
      phone_number: '',
      country: '',
      ...values,
      uuid: newUuid(),
      created: now(),
    }).lastInsertRowid;
    if (!quotas.createFor(Number(id))) throw new QuotaExceeded();
    const row = findById.get(id) as CustomerRow;
    record('customer_creation_succeeded', `Customer ${row.name} has been created.`, {
      ip_address: address,
      user_uuid: caller.uuid,
      user_username: caller.username,
      user_full_name: caller.full_name,
      user_native_name: caller.native_name,
      customer_uuid: row.uuid,
      customer_name: row.name,
      customer_abbreviation: row.abbreviation,
      customer_contact_details: row.contact_details,
    });
    return row;
  });

  return {
    list: (base: string, caller: Caller, page: number) => {
      const limit = 10;
      const offset = (page - 1) * limit;
      const total = (seesAll(caller) ? countAll.get() : countMine.get({ caller: caller.id })) as number;
      const rows = seesAll(caller)
        ? pageOfAll.all({ limit, offset })
        : pageOfMine.all({ caller: caller.id, limit, offset });
      return { total, limit, items: rows.map((row) => represent(base, caller, row)) };
    },
    find: (base: string, caller: Caller, uuid: string) => {
      const row = seesAll(caller) ? findAny.get(uuid) : findMine.get({ uuid, caller: caller.id });
      return row && represent(base, caller, row);
    },
    create: (base: string, caller: Caller, address: string, values: NewCustomer) =>
      represent(base, caller, create(caller, address, values)),
  };
}
