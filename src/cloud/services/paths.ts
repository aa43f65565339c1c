import {
  booleanValue,
  computedValue,
  type Json,
  linkOfPath,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  plainValue,
} from '../../kernel/collection/representation.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { settingsStateValue } from './settings-fields.ts';

/** Path segment of a type's links. */
export const linkPath = (type: Pick<ProviderType, 'prefix'>): string => `${type.prefix}-service-project-link`;

/** A link whose path depends on the type of a service or of its links. */
export const typedLink = (type: string, tail: string, uuid: string): Json =>
  linkOfPath(`concat(service_path(${type}), '${tail}')`, uuid);

/** SQL of the sorted names of certifications that a project requires and the settings lack; null if none. */
const missing = `(SELECT group_concat(s.name, ', ' ORDER BY s.name) FROM project_certification pc JOIN service_certification s ON s.id = pc.certification_id
  WHERE pc.project_id = p.id AND s.id NOT IN (SELECT certification_id FROM settings_certification WHERE settings_id = st.id))`;

/** The services linked to the project in alias `p`, with the validity of each link (core.md 7.2). */
export const projectServices: Json = listValue(
  objectValue({
    uuid: plainValue('v.uuid'),
    url: typedLink('st.type', '', 'v.uuid'),
    service_project_link_url: typedLink('st.type', '-service-project-link', 'l.uuid'),
    name: notNullText('st.name'),
    type: plainValue('st.type'),
    state: settingsStateValue('st.state'),
    shared: booleanValue('st.shared'),
    settings_uuid: plainValue('st.uuid'),
    settings: linkValue('service-settings', 'st.uuid'),
    validation_state: computedValue(`iif(${missing} IS NULL, '"OK"', '"ERRED"')`, {
      type: 'string',
      enum: ['OK', 'ERRED'],
    }),
    validation_message: computedValue(
      `iif(${missing} IS NULL, '""', json_quote(concat('Provider does not match with project''s security policy. Certifications are missing: "', ${missing}, '"')))`,
      { type: 'string' },
    ),
  }),
  'service_project_link l JOIN service v ON v.id = l.service_id JOIN service_settings st ON st.id = v.settings_id WHERE l.project_id = p.id',
  'st.name COLLATE NOCASE, l.id',
);
