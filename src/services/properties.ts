import { Collection } from '../collection/collection.ts';
import { type Fields, selfLink, text, uuidField } from '../collection/field.ts';
import { exact, linked, partial, uuid } from '../collection/filter.ts';
import { sql } from '../db/sql.ts';
import { type PropertyRow, inSetOf, visibleProperties } from '../providers/property.ts';
import { propertyKinds } from '../providers/registry.ts';
import { settings, visibleSettings } from './settings.ts';

const bySettings = linked('st.id', 'service_settings', () => settings);

/** The collection of each kind of property (providers.md 1.3). */
export const properties: readonly Collection<Fields, PropertyRow>[] = propertyKinds.map(
  ({ kind, name, type }) =>
    new Collection<Fields, PropertyRow>({
      path: kind.path,
      kind: name,
      description: `What ${type.name} providers offer: ${kind.name}.`,
      table: 'property',
      alias: 'd',
      fields: { url: selfLink(kind.path, 'd.uuid'), uuid: uuidField(), name: text({ max: 255, create: false, update: false }), ...kind.fields },
      visible: (caller) => sql`d.kind = ${name} AND (${visibleProperties(caller)})`,
      who: { read: type.hasGlobalProperties ? 'Everybody.' : 'Everybody who sees the settings or a service on them.' },
      filters: {
        name: partial('d.name'),
        name_exact: exact('d.name'),
        settings: {
          ...bySettings,
          condition: (request, parameter) => {
            const condition = bySettings.condition(request, parameter);
            return condition && inSetOf(sql`${condition} AND ${visibleSettings(request.caller, 'st.id')}`);
          },
        },
        settings_uuid: uuid('Uuid of the settings that use it.', (key, { caller }) => inSetOf(sql`st.uuid = ${key} AND ${visibleSettings(caller, 'st.id')}`)),
        ...kind.filters,
      },
      orderings: { name: 'd.name COLLATE NOCASE', ...kind.orderings },
      order: 'd.name COLLATE NOCASE',
    }),
);
