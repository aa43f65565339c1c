import { projects } from '../../accounts/projects/projects.ts';
import {
  booleanColumn,
  type Filters,
  linked,
  ofName,
  oneOf,
  uuid,
  uuidOf,
  within,
} from '../../kernel/collection/filter.ts';
import { sql } from '../../kernel/db/sql.ts';
import { settingsStates } from './settings-fields.ts';
import { settingsTarget } from './targets.ts';

/** SQL of a column of the settings of the service in alias `v`. */
export const ofSettings = (column: string): string =>
  `(SELECT st.${column} FROM service_settings st WHERE st.id = v.settings_id)`;

/** Filters of services, in alias `v`. */
export const filters: Filters = {
  customer: uuidOf('v.customer_id', 'customer'),
  customer_uuid: uuidOf('v.customer_id', 'customer'),
  project_uuid: uuid(
    'Services linked to this project.',
    (key) =>
      sql`v.id IN (SELECT l.service_id FROM service_project_link l JOIN project p ON p.id = l.project_id WHERE p.uuid = ${key})`,
  ),
  settings_uuid: uuidOf('v.settings_id', 'service_settings'),
  service_uuid: uuid('Uuid of the service.', (key) => sql`v.uuid = ${key}`),
  project: {
    ...linked('l.project_id', 'project', () => projects),
    condition: (request, name) => {
      const condition = linked('l.project_id', 'project', () => projects).condition(request, name);
      return condition && sql`v.id IN (SELECT l.service_id FROM service_project_link l WHERE ${condition})`;
    },
  },
  settings: linked('v.settings_id', 'service_settings', () => settingsTarget),
  ...ofName(ofSettings('name')),
  shared: booleanColumn(ofSettings('shared')),
  state: within(settingsStates, oneOf(ofSettings('state'), 'State of the settings.')),
};

/** Orderings of services, in alias `v`. */
export const orderings = {
  name: `${ofSettings('name')} COLLATE NOCASE`,
  service_type: ofSettings('type'),
  state: ofSettings('state'),
};
