import { projects } from '../../accounts/projects/projects.ts';
import { embeddedQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import { rightVia, visibleTo } from '../../kernel/access/right.ts';
import { visibleProjects } from '../../kernel/access/visibility.ts';
import { Collection, type Row } from '../../kernel/collection/collection.ts';
import { type NewValues, readOnlyList, readOnlyText, uuidField } from '../../kernel/collection/field.ts';
import { linked, ofNames, uuidOf } from '../../kernel/collection/filter.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import { notNullText, plainValue } from '../../kernel/collection/representation.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalidRequest } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { linkPath } from './paths.ts';
import { serviceManagers, serviceWriters } from './rights.ts';
import { createLink, removeLink, resourcesReason } from './service-lifecycle.ts';
import { serviceTarget } from './targets.ts';

interface LinkRow extends Row {
  readonly service_id: number;
  readonly project_id: number;
}

const ofProject = (column: string): string => `(SELECT ${column} FROM project WHERE id = l.project_id)`;
const ofService = (column: string): string => `(SELECT ${column} FROM service WHERE id = l.service_id)`;
const ofSettings = (column: string): string =>
  `(SELECT st.${column} FROM service v JOIN service_settings st ON st.id = v.settings_id WHERE v.id = l.service_id)`;

const fieldsOf = (type: ProviderType) => ({
  url: selfLink(linkPath(type), 'l.uuid'),
  uuid: uuidField(),
  project: link({ required: true, to: () => projects, key: ofProject('uuid') }),
  project_name: readOnlyText(notNullText(ofProject('name'))),
  project_uuid: readOnlyText(plainValue(ofProject('uuid'))),
  service: link({ required: true, to: () => serviceTarget(type), key: ofService('uuid') }),
  service_name: readOnlyText(notNullText(ofSettings('name'))),
  service_uuid: readOnlyText(plainValue(ofService('uuid'))),
  quotas: readOnlyList(embeddedQuotas('link', 'l.id')),
});

type LinkFields = ReturnType<typeof fieldsOf>;

type NewLink = NewValues<LinkFields>;

function check(request: Request, { project, service }: NewLink): void {
  const { db } = request;
  if (db.value(sql`SELECT customer_id FROM service WHERE id = ${service}`) !== customerOfProject(project, request))
    throw invalidRequest("Service customer doesn't match project customer.");
  if (db.value(sql`SELECT 1 FROM service_project_link WHERE service_id = ${service} AND project_id = ${project}`))
    throw invalidRequest('This service project link already exists.');
}

const customerOfProject = (project: number, { db }: Request): number =>
  db.scalar<number>(sql`SELECT customer_id FROM project WHERE id = ${project}`);

/** Links of the services of one type to projects (services.md 5). */
export const links = memoised(
  (type: ProviderType): Collection<LinkFields, LinkRow> =>
    new Collection<LinkFields, LinkRow>({
      path: linkPath(type),
      kind: `${type.name} Service Project Link`,
      noun: `${type.name} service project link`,
      description: `Use of ${type.name} services by projects.`,
      table: 'service_project_link',
      alias: 'l',
      fields: fieldsOf(type),
      visible: visibleTo(
        'callers who can see the project',
        (caller) => sql`${raw(ofSettings('type'))} = ${type.name} AND ${visibleProjects(caller, 'l.project_id')}`,
      ),
      options: { actions: () => [] },
      filters: {
        ...ofNames([ofSettings('name'), ofProject('name')], 'of the service or the project'),
        service_uuid: uuidOf('l.service_id', 'service'),
        customer_uuid: uuidOf(ofProject('customer_id'), 'customer'),
        project_uuid: uuidOf('l.project_id', 'project'),
        project: linked('l.project_id', 'project', () => projects),
        service: linked('l.service_id', 'service', () => serviceTarget(type)),
      },
      orderings: {},
      order: 'l.id',
      create: {
        right: serviceManagers,
        check,
        rightWith: rightVia(
          ({ project }: NewLink, request) => ({ customer_id: customerOfProject(project, request) }),
          serviceWriters,
        ),
        run: (request, { project, service }, columns) => createLink(request, service, project, 'asked', columns),
      },
      delete: {
        right: rightVia(
          ({ project_id: project }: LinkRow, request) => ({ customer_id: customerOfProject(project, request) }),
          serviceWriters,
        ),
        denialReason: (request, row) =>
          resourcesReason(request, 'link_id', row.id, 'Cannot delete service project link'),
        run: (request, row) => removeLink(request, row.id),
      },
    }),
);
