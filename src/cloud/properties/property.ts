import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Row } from '../../kernel/collection/collection.ts';
import { type Field, readOnly, type WritableField, writeOnly } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { link } from '../../kernel/collection/links.ts';
import { computedValue, optionalLink } from '../../kernel/collection/representation.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { simulatedSql } from '../catalogue/simulation.ts';
import { readableServices, readableSettings } from '../services/readable.ts';

/** An offer of a provider: an image, a size, a region. */
export interface PropertyRow extends Row {
  readonly kind: string;
  readonly settings_id: number | null;
  readonly backend: string | null;
  readonly backend_id: string;
  readonly name: string;
  /** JSON */
  readonly details: string;
}

/** A property with its details. */
export interface Property extends PropertyRow {
  readonly values: Readonly<Record<string, unknown>>;
}

/** A detail of a property in alias `d`, as SQL. */
export const propertyDetail = (name: string): string => `(d.details ->> '$.${name}')`;

const shapes: Readonly<Record<'string' | 'integer' | 'datetime', JsonSchema>> = {
  string: { type: ['string', 'null'] },
  integer: { type: ['integer', 'null'] },
  datetime: { type: ['string', 'null'], format: 'date-time' },
};

/** A detail of a property in responses. */
export const shownProperty = (
  name: string,
  type: 'string' | 'integer' | 'datetime' = 'string',
  empty = 'null',
): Field<never> => readOnly(type, shapes[type], computedValue(`ifnull(d.details -> '$.${name}', '${empty}')`));

/** The link of a property's settings. */
export const settingsOfProperty = (): Field<never> =>
  readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('service-settings', '(SELECT uuid FROM service_settings WHERE id = d.settings_id)'),
  );

/** SQL: the property in this alias belongs to the same set as the one in alias `d`. */
export const inSameSet = (alias: string): string =>
  `(${alias}.settings_id = d.settings_id OR ${alias}.backend = d.backend)`;

/** Condition: the property set of the settings (alias `st`) contains the property in alias `d`. */
export const inSetOf = (condition: Sql): Sql => sql`EXISTS (
  SELECT 1 FROM service_settings st
  WHERE ${condition} AND d.kind LIKE concat(st.type, '.%')
    AND (d.settings_id = st.id OR (d.backend = '' AND ${raw(simulatedSql('st'))})))`;

/**
 * Any user can read the simulator's properties. Users who can see settings, or a service on them, can read their properties;
 * those that are private to a shared account require a service (providers.md 1.3).
 */
export function visibleProperties(caller: Caller): Sql {
  if (seesAll(caller)) return raw('TRUE');
  const user = callerId(caller);
  return sql`d.settings_id IS NULL
    OR d.settings_id IN (SELECT settings_id FROM service WHERE id IN (${readableServices(user)}))
    OR (d.settings_id IN (${readableSettings(user)}) AND (
      d.details ->> '$.is_public' IS NOT FALSE
      OR d.settings_id IN (SELECT id FROM service_settings WHERE NOT shared)))`;
}

/** A required link to a property of a kind. Its value is the property's id. */
export const propertyLink = (
  kind: string,
  path: string,
  options: { update?: boolean; displayName?: string } = {},
): WritableField<number, true> => ({
  ...writeOnly(
    link({
      required: true,
      update: options.update ?? false,
      storedIn: false,
      key: "''",
      to: () => ({
        path,
        visibleId: ({ caller, db }, uuid) =>
          db.value<number>(
            sql`SELECT d.id FROM property d WHERE d.kind = ${kind} AND d.uuid = ${uuid} AND (${visibleProperties(caller)})`,
          ),
      }),
    }),
  ),
  // The property may have been removed meanwhile.
  shape: { type: ['string', 'null'], format: 'uri' },
  select: () => ({
    path,
    by: 'settings',
    ...(options.displayName !== undefined && { displayName: options.displayName }),
  }),
});

/** Returns a property by id, if it belongs to the settings' set. */
export function propertyInSet({ db }: Pick<Request, 'db'>, id: number, settings: number): Property | undefined {
  const row = db.get<PropertyRow>(
    sql`SELECT d.* FROM property d WHERE d.id = ${id} AND ${inSetOf(sql`st.id = ${settings}`)}`,
  );
  return row && { ...row, values: JSON.parse(row.details) };
}

/** Returns the property in a field of a body. Throws 400 for the field if it belongs to another set. */
export function chosenProperty<K extends string>(
  request: Request,
  values: Readonly<Record<K, number>>,
  field: K,
  settings: number,
): Property {
  const property = propertyInSet(request, values[field], settings);
  if (!property) throw invalid({ [field]: ['Invalid hyperlink - Object does not exist.'] });
  return property;
}

/** Finds a property by its id at the provider, in the settings' set. */
export function propertyByBackendId(
  { db }: Pick<Request, 'db'>,
  kind: string,
  backendId: string,
  settings: number,
): Property | undefined {
  const row = db.get<PropertyRow>(
    sql`SELECT d.* FROM property d WHERE d.kind = ${kind} AND d.backend_id = ${backendId} AND ${inSetOf(sql`st.id = ${settings}`)}`,
  );
  return row && { ...row, values: JSON.parse(row.details) };
}

/** Whether a property, such as a size, is available in the region with this id at the provider. */
export const isInRegion = ({ values: { regions } }: Property, region: unknown): boolean =>
  Array.isArray(regions) && regions.includes(region);
