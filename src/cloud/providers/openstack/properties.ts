import { messages, readOnly } from '../../../kernel/collection/field.ts';
import type { Filter } from '../../../kernel/collection/filter.ts';
import { computedValue } from '../../../kernel/collection/representation.ts';
import { raw, sql } from '../../../kernel/db/sql.ts';
import { invalid } from '../../../kernel/http/error.ts';
import { matches } from '../../catalogue/pattern.ts';
import type { PropertyKind } from '../../catalogue/type.ts';
import { propertyDetail, settingsOfProperty, shownProperty } from '../../properties/property.ts';

/** A whole number that a detail of the property is compared with. */
function amount(name: string, comparison: '=' | '>=' | '<='): Filter {
  return {
    type: 'integer',
    help:
      comparison === '=' ? 'The exact number.' : comparison === '>=' ? 'The minimum number.' : 'The maximum number.',
    condition: ({ query }, parameter) => {
      const value = query.one(parameter);
      if (value === undefined) return undefined;
      if (!/^\s*[+-]?\d+\s*$/.test(value)) throw invalid({ [parameter]: [messages.integer] });
      return sql`${raw(propertyDetail(name))} ${raw(comparison)} ${Number(value)}`;
    },
  };
}

const amounts = (name: string): Readonly<Record<string, Filter>> => ({
  [name]: amount(name, '='),
  [`${name}__gte`]: amount(name, '>='),
  [`${name}__lte`]: amount(name, '<='),
});

const displayName = `json_quote(concat(d.name, ' (', ${propertyDetail('cores')}, ' CPU, ', ${propertyDetail('ram')}, ' MB RAM, ', ${propertyDetail('disk')}, ' MB HDD)'))`;

export const flavor: PropertyKind = {
  name: 'Flavor',
  path: 'openstack-flavors',
  fields: {
    settings: settingsOfProperty(),
    cores: shownProperty('cores', 'integer'),
    ram: shownProperty('ram', 'integer'),
    disk: shownProperty('disk', 'integer'),
    display_name: readOnly('string', { type: 'string' }, computedValue(displayName)),
  },
  filters: { ...amounts('cores'), ...amounts('ram'), ...amounts('disk') },
  orderings: { cores: propertyDetail('cores'), ram: propertyDetail('ram'), disk: propertyDetail('disk') },
  isIncluded: (name, options) =>
    typeof options.flavor_exclude_regex !== 'string' || !matches(options.flavor_exclude_regex, name),
};

export const image: PropertyKind = {
  name: 'Image',
  path: 'openstack-images',
  fields: {
    settings: settingsOfProperty(),
    min_disk: shownProperty('min_disk', 'integer'),
    min_ram: shownProperty('min_ram', 'integer'),
  },
  filters: {},
  orderings: {},
};
