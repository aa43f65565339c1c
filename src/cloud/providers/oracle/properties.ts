import { exact } from '../../../kernel/collection/filter.ts';
import type { PropertyKind } from '../../catalogue/type.ts';
import { propertyDetail, settingsOfProperty, shownProperty } from '../../properties/property.ts';

/** The type of templates that databases are made from. */
export const databaseTemplate = 'Database Platform Template';
export const schemaTemplate = 'Schema Platform Template';

export const zone: PropertyKind = {
  name: 'Zone',
  path: 'oracle-zones',
  fields: { settings: settingsOfProperty() },
  filters: {},
  orderings: {},
};

export const template: PropertyKind = {
  name: 'Template',
  path: 'oracle-templates',
  fields: { type: shownProperty('type'), settings: settingsOfProperty() },
  filters: { type: exact(propertyDetail('type')) },
  orderings: {},
};
