import { projects } from '../../accounts/projects/projects.ts';
import { embeddedQuotas } from '../../activity/quotas/embedded.ts';
import type { Request } from '../../kernel/access/request.ts';
import { visibleProjects } from '../../kernel/access/visibility.ts';
import {
  type DescribedAction,
  describeList,
  describeObject,
  forbiddenText,
  refusalOf,
} from '../../kernel/collection/actions.ts';
import { Collection, type Row } from '../../kernel/collection/collection.ts';
import { shownList, shownText, uuidField } from '../../kernel/collection/field.ts';
import { linked, uuidOf } from '../../kernel/collection/filter.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import { knownText, plainValue } from '../../kernel/collection/representation.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalidRequest } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { createLink, refuseWithResources, removeLink } from './linking.ts';
import { linkPath } from './paths.ts';
import { mayManageServices, mayWriteService } from './rights.ts';
import { serviceTarget } from './targets.ts';

export interface LinkRow extends Row {
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
  project_name: shownText(knownText(ofProject('name'))),
  project_uuid: shownText(plainValue(ofProject('uuid'))),
  service: link({ required: true, to: () => serviceTarget(type), key: ofService('uuid') }),
  service_name: shownText(knownText(ofSettings('name'))),
  service_uuid: shownText(plainValue(ofService('uuid'))),
  quotas: shownList(embeddedQuotas('link', 'l.id')),
});

type LinkFields = ReturnType<typeof fieldsOf>;

function check(request: Request, values: { service?: number; project?: number }): void {
  const { db } = request;
  const service = values.service as number;
  const project = values.project as number;
  const owner = customerOfProject(request, project);
  if (db.value(sql`SELECT customer_id FROM service WHERE id = ${service}`) !== owner)
    throw invalidRequest("Service customer doesn't match project customer.");
  if (db.value(sql`SELECT 1 FROM service_project_link WHERE service_id = ${service} AND project_id = ${project}`)) {
    throw invalidRequest('This service project link already exists.');
  }
}

const customerOfProject = ({ db }: Request, project: number): number =>
  db.value<number>(sql`SELECT customer_id FROM project WHERE id = ${project}`) as number;

const linkActions: readonly DescribedAction<LinkRow>[] = [
  {
    name: 'destroy',
    method: 'DELETE',
    destructive: true,
    tail: '',
    refusal: (request, row) =>
      mayWriteService(request, customerOfProject(request, row.project_id))
        ? refusalOf(() => refuseWithResources(request, 'link_id', row.id, 'Cannot delete service project link'))
        : forbiddenText,
  },
];

/** Links of the services of one type to projects (services.md 5). */
export const links = memoised(
  (type: ProviderType): Collection<LinkFields, LinkRow> =>
    new Collection<LinkFields, LinkRow>({
      path: linkPath(type),
      kind: `${type.name} Service Project Link`,
      description: `Use of ${type.name} services by projects.`,
      table: 'service_project_link',
      alias: 'l',
      fields: fieldsOf(type),
      visible: (caller) =>
        sql`${raw(ofSettings('type'))} = ${type.name} AND ${visibleProjects(caller, 'l.project_id')}`,
      who: {
        read: 'Everybody who sees the project.',
        create: 'Staff; owners of the customer.',
        delete: 'Staff; owners of the customer.',
      },
      describe: {
        list: (request) => describeList(request, mayManageServices(request) ? fieldsOf(type) : undefined),
        object: (request, row) =>
          describeObject(request, `${request.base}/api/${linkPath(type)}/${row.uuid}/`, row, linkActions),
      },
      filters: {
        service_uuid: uuidOf('l.service_id', 'service'),
        customer_uuid: uuidOf(ofProject('customer_id'), 'customer'),
        project_uuid: uuidOf('l.project_id', 'project'),
        project: linked('l.project_id', 'project', () => projects),
        service: linked('l.service_id', 'service', () => serviceTarget(type)),
      },
      orderings: {},
      order: 'l.id',
      create: {
        may: mayManageServices,
        check,
        mayWith: (request, values) => mayWriteService(request, customerOfProject(request, values.project as number)),
        run: (request, values) => createLink(request, values.service as number, values.project as number, 'asked'),
      },
      delete: {
        may: (request, row) => mayWriteService(request, customerOfProject(request, row.project_id)),
        run: (request, row) => {
          refuseWithResources(request, 'link_id', row.id, 'Cannot delete service project link');
          removeLink(request, row.id);
        },
      },
    }),
);
