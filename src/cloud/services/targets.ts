import { visibleProjects } from '../../kernel/access/visibility.ts';
import type { LinkTarget } from '../../kernel/collection/links.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { linkPath } from './paths.ts';
import { visibleServices, visibleSettings } from './readable.ts';

/* Link targets of settings, services and links, for fields and filters. */

export const settingsTarget: LinkTarget = {
  path: 'service-settings',
  visibleId: ({ caller, db }, uuid) =>
    db.value<number>(sql`SELECT st.id FROM service_settings st WHERE st.uuid = ${uuid} AND ${visibleSettings(caller)}`),
};

/** The services of one type. */
export const serviceTarget = (type: ProviderType): LinkTarget => ({
  path: type.prefix,
  visibleId: ({ caller, db }, uuid) =>
    db.value<number>(sql`SELECT v.id FROM service v JOIN service_settings st ON st.id = v.settings_id
      WHERE v.uuid = ${uuid} AND st.type = ${type.name} AND ${visibleServices(caller)}`),
});

/** The links of the services of one type. */
export const linkTarget = (type: ProviderType): LinkTarget => ({
  path: linkPath(type),
  visibleId: ({ caller, db }, uuid) =>
    db.value<number>(sql`SELECT l.id FROM service_project_link l JOIN service v ON v.id = l.service_id
      JOIN service_settings st ON st.id = v.settings_id
      WHERE l.uuid = ${uuid} AND st.type = ${type.name} AND ${visibleProjects(caller, 'l.project_id')}`),
});
