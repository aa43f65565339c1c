import { readOnly, readOnlyList } from '../../../kernel/collection/field.ts';
import { exact } from '../../../kernel/collection/filter.ts';
import {
  booleanValue,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  plainValue,
} from '../../../kernel/collection/representation.ts';
import type { PropertyKind } from '../../catalogue/type.ts';
import { inSameSet, propertyDetail, shownProperty } from '../../properties/property.ts';

/** The regions, by slug, that an image or size is available in. */
const regions = readOnlyList(
  listValue(
    objectValue({
      url: linkValue('digitalocean-regions', 'x.uuid'),
      uuid: plainValue('x.uuid'),
      name: notNullText('x.name'),
    }),
    `json_each(d.details -> '$.regions') slug
      JOIN property x ON x.kind = 'DigitalOcean.Region' AND x.backend_id = slug.value AND ${inSameSet('x')}`,
    'x.name',
  ),
);

export const region: PropertyKind = {
  name: 'Region',
  path: 'digitalocean-regions',
  fields: {},
  filters: {},
  orderings: {},
};

export const image: PropertyKind = {
  name: 'Image',
  path: 'digitalocean-images',
  fields: {
    distribution: shownProperty('distribution'),
    type: shownProperty('type'),
    regions,
    is_official: readOnly('boolean', { type: 'boolean' }, booleanValue(propertyDetail('is_official'))),
    created_at: shownProperty('created_at', 'datetime'),
    min_disk_size: shownProperty('min_disk_size', 'integer'),
  },
  filters: { distribution: exact(propertyDetail('distribution')), type: exact(propertyDetail('type')) },
  orderings: { distribution: propertyDetail('distribution'), type: propertyDetail('type') },
};

export const size: PropertyKind = {
  name: 'Size',
  path: 'digitalocean-sizes',
  fields: {
    cores: shownProperty('cores', 'integer'),
    ram: shownProperty('ram', 'integer'),
    disk: shownProperty('disk', 'integer'),
    transfer: shownProperty('transfer', 'integer'),
    regions,
  },
  filters: {
    cores: exact(`CAST(${propertyDetail('cores')} AS TEXT)`),
    ram: exact(`CAST(${propertyDetail('ram')} AS TEXT)`),
    disk: exact(`CAST(${propertyDetail('disk')} AS TEXT)`),
  },
  orderings: { cores: propertyDetail('cores'), ram: propertyDetail('ram'), disk: propertyDetail('disk') },
};
