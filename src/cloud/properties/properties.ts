import type { Caller } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { visibleTo } from '../../kernel/access/right.ts';
import { Collection } from '../../kernel/collection/collection.ts';
import { type Fields, uuidField } from '../../kernel/collection/field.ts';
import { linked, ofName, uuid } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { text } from '../../kernel/collection/values.ts';
import { among, type Sql, sql } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { PropertyKind } from '../catalogue/type.ts';
import { visibleServices, visibleSettings } from '../services/readable.ts';
import { settingsTarget } from '../services/targets.ts';
import { inSetOf, type PropertyRow, visibleProperties } from './property.ts';

/** Condition: the caller can see the settings in alias `st` or a service on them. */
const knownSettings = (caller: Caller): Sql =>
  sql`(${visibleSettings(caller)} OR EXISTS (SELECT 1 FROM service v WHERE v.settings_id = st.id AND ${visibleServices(caller)}))`;

const bySettings = linked('st.id', 'service_settings', () => settingsTarget);

/** Condition: settings (alias `st`) use the property in alias `d`, and their options do not exclude it. */
function usedBy({ db }: Request, kind: PropertyKind, name: string, settingsCondition: Sql): Sql {
  const inSet = inSetOf(settingsCondition);
  if (!kind.isIncluded) return inSet;
  const options = db
    .values<string>(sql`SELECT st.options FROM service_settings st WHERE ${settingsCondition}`)
    .map((text) => JSON.parse(text));
  const names = db.values<string>(sql`SELECT DISTINCT d.name FROM property d WHERE d.kind = ${name} AND ${inSet}`);
  const stored = names.filter((each) => options.some((one) => kind.isIncluded?.(each, one)));
  return sql`${inSet} AND ${among('d.name', stored)}`;
}

/** The collection of each kind of property (providers.md 1.3). */
export const properties = memoised(({ propertyKinds }: Catalogue): readonly Collection<Fields, PropertyRow>[] =>
  propertyKinds.map(
    ({ kind, name, type }) =>
      new Collection<Fields, PropertyRow>({
        path: kind.path,
        kind: name,
        description: `What ${type.name} providers offer: ${kind.name}.`,
        table: 'property',
        alias: 'd',
        fields: {
          url: selfLink(kind.path, 'd.uuid'),
          uuid: uuidField(),
          name: text({ max: 255, create: false, update: false }),
          ...kind.fields,
        },
        visible: visibleTo(
          type.hasGlobalProperties
            ? 'simulated ones: any user; those of an account: users who see its settings or a service on them'
            : 'users who see the settings or a service on them',
          (caller) => sql`d.kind = ${name} AND (${visibleProperties(caller)})`,
        ),
        filters: {
          ...ofName('d.name'),
          settings: {
            ...bySettings,
            condition: (request, parameter) => {
              const condition = bySettings.condition(request, parameter);
              return condition && usedBy(request, kind, name, sql`${condition} AND ${knownSettings(request.caller)}`);
            },
          },
          settings_uuid: uuid('Uuid of the settings that use it.', (key, request) =>
            usedBy(request, kind, name, sql`st.uuid = ${key} AND ${knownSettings(request.caller)}`),
          ),
          ...kind.filters,
        },
        orderings: { name: 'd.name COLLATE NOCASE', ...kind.orderings },
        order: 'd.name COLLATE NOCASE',
      }),
  ),
);
