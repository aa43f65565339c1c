import type { Request } from '../../kernel/access/request.ts';
import { type Field, readOnly } from '../../kernel/collection/field.ts';
import { type Filters, linked, uuidOf } from '../../kernel/collection/filter.ts';
import type { LinkTarget } from '../../kernel/collection/links.ts';
import {
  computedValue,
  type Json,
  linkOfPath,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  optionalLink,
  plainValue,
  textValue,
} from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { stateValue } from '../catalogue/resource-row.ts';
import { visibleResources } from './rights.ts';

/** A value among the details of a kind: SQL. */
export const detail = (name: string, alias = 'r'): string => `(${alias}.details ->> '$.${name}')`;

/** A detail in responses: any JSON value. `empty` is the JSON for a missing value. */
export const shownDetail = (
  name: string,
  shape: Readonly<Record<string, unknown>> = { type: ['string', 'null'] },
  empty = 'null',
): Field<never> => readOnly('string', shape, computedValue(`ifnull(r.details -> '$.${name}', '${empty}')`));

/** Arbitrary texts by name. */
export const textMap = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** The link target of resources of a kind. */
export const resourceTarget = (kind: string, path: string) => (): LinkTarget => ({
  path,
  visibleId: ({ caller, db }: Request, uuid) =>
    db.value<number>(
      sql`SELECT r.id FROM resource r WHERE r.kind = ${kind} AND r.uuid = ${uuid} AND ${visibleResources(caller)}`,
    ),
});

/** The link of the resource whose id is in a column, or null. */
const linkOfResource = (path: string, column: string): Field<never> =>
  readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink(path, `(SELECT uuid FROM resource WHERE id = ${column})`),
  );

/** SQL of a column of the resource's parent. */
export const ofParent = (column: string): string => `(SELECT ${column} FROM resource WHERE id = r.parent_id)`;

/** SQL of a column of the instance to which a resource is attached. */
const ofInstance = (column: string): string => `(SELECT ${column} FROM resource WHERE id = r.instance_id)`;

/** Link, uuid and name of the instance to which a resource is attached. */
export const instanceFields = (path: string) => ({
  instance: linkOfResource(path, 'r.instance_id'),
  instance_uuid: readOnly('string', { type: ['string', 'null'] }, textValue(ofInstance('uuid'))),
  instance_name: readOnly('string', { type: ['string', 'null'] }, textValue(ofInstance('name'))),
});

/** Filters and orderings by that instance. */
export const instanceFilters = (path: string): Filters => ({
  instance: linked('r.instance_id', 'resource', () => ({ path })),
  instance_uuid: uuidOf('r.instance_id', 'resource'),
});
export const instanceOrderings = { instance_name: `ifnull(${ofInstance('name')}, '') COLLATE NOCASE` };

const relatedWith = (url: Json): Json =>
  objectValue({
    url,
    uuid: plainValue('x.uuid'),
    name: notNullText('x.name'),
    resource_type: plainValue('x.kind'),
    state: stateValue('x.state'),
  });

/** An item of related_resources in alias `x` (services.md 7.1). */
export const relatedItem = (path: string): Json => relatedWith(linkValue(path, 'x.uuid'));

/** Related resources of one kind that satisfy a condition on alias `x`. */
export const relatedList = (kind: string, path: string, condition: string): Json =>
  listValue(relatedItem(path), `resource x WHERE x.kind = '${kind}' AND ${condition}`, 'x.id');

/** Related resources of several kinds, by their paths, that satisfy a condition on alias `x`. */
export const relatedOfKinds = (paths: Readonly<Record<string, string>>, condition: string): Json =>
  listValue(
    relatedWith(
      linkOfPath(
        `CASE x.kind ${Object.entries(paths)
          .map(([kind, path]) => `WHEN '${kind}' THEN '${path}'`)
          .join(' ')} END`,
        'x.uuid',
      ),
    ),
    `resource x WHERE x.kind IN (${Object.keys(paths)
      .map((kind) => `'${kind}'`)
      .join(', ')}) AND ${condition}`,
    'x.kind, x.id',
  );
