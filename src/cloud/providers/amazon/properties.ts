import { readOnly, readOnlyList } from '../../../kernel/collection/field.ts';
import { type Filter, uuid } from '../../../kernel/collection/filter.ts';
import {
  computedValue,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  orNullShape,
  plainValue,
  render,
} from '../../../kernel/collection/representation.ts';
import { raw, sql } from '../../../kernel/db/sql.ts';
import { matches } from '../../catalogue/pattern.ts';
import type { PropertyKind } from '../../catalogue/type.ts';
import { inSameSet, propertyDetail, shownProperty } from '../../properties/property.ts';

/** A region in alias `x`. */
const regionItem = objectValue({
  url: linkValue('aws-regions', 'x.uuid'),
  uuid: plainValue('x.uuid'),
  name: notNullText('x.name'),
});

/** Regions, by a condition on alias `x`, of the set that the property in alias `d` belongs to. */
const regionsWhere = (condition: string): string =>
  `property x WHERE x.kind = 'Amazon.Region' AND ${inSameSet('x')} AND ${condition}`;

const isInRegions = `x.backend_id IN (SELECT value FROM json_each(d.details -> '$.regions'))`;

/** Properties that are in the region with this uuid. */
const inRegion = (condition: string): Filter =>
  uuid('Uuid of the region.', (key) => sql`EXISTS (SELECT 1 FROM ${raw(regionsWhere(condition))} AND x.uuid = ${key})`);

export const region: PropertyKind = { name: 'Region', path: 'aws-regions', fields: {}, filters: {}, orderings: {} };

const isRegion = `x.backend_id = ${propertyDetail('region')}`;

export const image: PropertyKind = {
  name: 'Image',
  path: 'aws-images',
  fields: {
    region: readOnly(
      'nested object',
      orNullShape(regionItem.shape),
      computedValue(`ifnull((SELECT ${render(regionItem)} FROM ${regionsWhere(isRegion)}), 'null')`),
    ),
  },
  filters: { region: inRegion(isRegion) },
  orderings: {},
  isIncluded: (name, { images_regex: expression }) => typeof expression !== 'string' || matches(expression, name),
};

export const size: PropertyKind = {
  name: 'Size',
  path: 'aws-sizes',
  fields: {
    description: shownProperty('description'),
    cores: shownProperty('cores', 'integer'),
    ram: shownProperty('ram', 'integer'),
    disk: shownProperty('disk', 'integer'),
    regions: readOnlyList(listValue(regionItem, regionsWhere(isInRegions), 'x.name')),
  },
  filters: { region: inRegion(isInRegions) },
  orderings: {},
};
