/** The rights to collections of provider types: the same rows for every type, and an object of every kind. */

import { createQuotas } from '../../../src/activity/quotas/usage.ts';
import { placeOf } from '../../../src/cloud/resources/creation.ts';
import { insertResource } from '../../../src/cloud/resources/resource-store.ts';
import { createLink, createService } from '../../../src/cloud/services/service-lifecycle.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import { newUuid } from '../../../src/kernel/app.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { catalogue, endpoints } from '../../support/catalogue.ts';
import type { Situation } from './situation.ts';

/*
 * Rows by the shape of paths: <service>, <link>, <kind>, <property> and <entity> stand for every collection of that sort, a star
 * for any tail or every other method. `ok` is any response except a rejection of the right: its status depends on the kind. An
 * empty creation is 400 for all users, because the right depends on the body. `theirs` belongs to another user in the callers'
 * project. Some properties are public (`any`), others belong to the callers' settings or to foreign ones. An object is foreign to
 * all roles alike, so one of them represents all.
 */
const shapes = `
                                                                           ST  GS  CO  CS  PM  PA  PS  UN  IN  AN
GET    /api/<service>/                                           -         200 200 200 200 200 200 200 200 401 401
POST   /api/<service>/                                           own       201 403 201 403 403 403 403 400 401 401
POST   /api/<service>/                                           foreign   201 403 400 .   .   .   .   400 .   401
POST   /api/<service>/test/                                      own       200 403 200 403 403 403 403 400 401 401
POST   /api/<service>/test/                                      foreign   200 403 400 .   .   .   .   400 .   401
GET    /api/<service>/:key/link/                                 own       200 403 200 403 403 403 403 404 401 401
GET    /api/<service>/:key/link/                                 foreign   200 403 404 .   .   .   .   404 .   401
GET    /api/<service>/:key/*                                     own       200 200 200 200 200 200 200 404 401 401
GET    /api/<service>/:key/*                                     foreign   200 200 404 .   .   .   .   404 .   401
*      /api/<service>/:key/*                                     own       ok  403 ok  403 403 403 403 404 401 401
*      /api/<service>/:key/*                                     foreign   ok  403 404 .   .   .   .   404 .   401
GET    /api/<link>/                                              -         200 200 200 200 200 200 200 200 401 401
POST   /api/<link>/                                              own       201 403 201 403 403 403 403 400 401 401
POST   /api/<link>/                                              foreign   201 403 400 .   .   .   .   400 .   401
GET    /api/<link>/:key/                                         own       200 200 200 200 200 200 200 404 401 401
GET    /api/<link>/:key/                                         foreign   200 200 404 .   .   .   .   404 .   401
*      /api/<link>/:key/                                         own       ok  403 ok  403 403 403 403 404 401 401
*      /api/<link>/:key/                                         foreign   ok  403 404 .   .   .   .   404 .   401
GET    /api/<property>/                                          -         200 200 200 200 200 200 200 200 401 401
GET    /api/<property>/:key/                                     any       200 200 200 200 200 200 200 200 401 401
GET    /api/<property>/:key/                                     own       200 200 200 200 200 200 200 404 401 401
GET    /api/<property>/:key/                                     foreign   200 200 404 .   .   .   .   404 .   401
GET    /api/<kind>/                                              -         200 200 200 200 200 200 200 200 401 401
POST   /api/<kind>/                                              -         400 400 400 400 400 400 400 400 401 401
GET    /api/<kind>/:key/*                                        own       200 200 200 200 200 200 200 404 401 401
GET    /api/<kind>/:key/*                                        foreign   200 200 404 .   .   .   .   404 .   401
POST   /api/<kind>/:key/unlink/                                  own       ok  403 ok  403 403 403 403 404 401 401
POST   /api/<kind>/:key/unlink/                                  foreign   ok  403 404 .   .   .   .   404 .   401
*      /api/<kind>/:key/*                                        own       ok  403 ok  403 ok  ok  403 404 401 401
*      /api/<kind>/:key/*                                        foreign   ok  403 404 .   .   .   .   404 .   401
GET    /api/<entity>/                                            -         200 200 200 200 200 200 200 200 401 401
POST   /api/<entity>/                                            -         400 400 400 400 400 400 400 400 401 401
GET    /api/<entity>/:key/*                                      theirs    200 200 404 404 404 404 404 404 401 401
*      /api/<entity>/:key/*                                      theirs    ok  403 404 404 404 404 404 404 401 401
`;

/** Collections of parts that are not resources themselves. */
const entities = new Set(['jira-issues', 'jira-comments', 'jira-attachments']);

const linkPaths = new Map(catalogue.types.map((type) => [`${type.prefix}-service-project-link`, type]));
const servicePaths = new Map(catalogue.types.map((type) => [type.prefix, type]));
const kindPaths = new Map(catalogue.kinds.map((typed) => [typed.kind.path, typed]));
const propertyPaths = new Map(catalogue.propertyKinds.map((property) => [property.kind.path, property]));

const collectionOf = (path: string): string => path.split('/')[2] ?? '';

function sortOf(path: string): string | undefined {
  const collection = collectionOf(path);
  if (servicePaths.has(collection)) return '<service>';
  if (linkPaths.has(collection)) return '<link>';
  if (kindPaths.has(collection)) return '<kind>';
  if (propertyPaths.has(collection)) return '<property>';
  return entities.has(collection) ? '<entity>' : undefined;
}

/** Whether the rows concern endpoints of a provider. */
export const isProvided = (path: string): boolean => sortOf(path) !== undefined;

export const isEntity = (path: string): boolean => sortOf(path) === '<entity>';

/** Returns the table's words for the objects at a path of a provider. */
export const wordsOf = (path: string): readonly string[] =>
  isEntity(path)
    ? ['theirs']
    : ['any', 'own', 'foreign'].filter((word) =>
        sortOf(path) === '<property>' ? isOfSort(path, word) : word !== 'any',
      );

/** Returns the rows of the table for every endpoint of every provider, except those with separate rows in `table`. */
export function providedLines(table: string): string {
  const own = new Set(table.split('\n').map((line) => line.trim().split(/\s+/).slice(0, 2).join(' ')));
  const templates = shapes
    .split('\n')
    .slice(2)
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/) as [string, string, string, ...string[]]);
  const lines = endpoints.flatMap(({ operations, path }) => {
    const sort = sortOf(path);
    if (!sort) return [];
    const shape = path.replace(collectionOf(path), sort);
    return Object.keys(operations)
      .filter((method) => !own.has(`${method} ${path}`))
      .flatMap((method) => {
        const fitting = templates.filter(
          ([requests, pattern]) =>
            (requests === method || requests === '*') &&
            (pattern.endsWith('*') ? shape.startsWith(pattern.slice(0, -1)) : shape === pattern),
        );
        return fitting
          .filter(
            ([requests, pattern, object]) =>
              requests === fitting[0]?.[0] &&
              pattern === fitting[0]?.[1] &&
              (sort !== '<property>' || isOfSort(path, object)),
          )
          .map(([, , object, ...cells]) => [method, path, object, ...cells].join(' '));
      });
  });
  return ['', '', ...lines].join('\n');
}

/** Whether a property is public or belongs to settings, by its word. */
function isOfSort(path: string, object: string): boolean {
  const property = propertyPaths.get(collectionOf(path));
  if (object === '-' || !property) return true;
  return (property.type.hasGlobalProperties || property.kind.isGlobal === true) === (object === 'any');
}

/** Creates a service on settings of a customer, and its link to a project. */
interface Connection {
  readonly settings: number;
  readonly service: string;
  readonly link: string;
  readonly linkId: number;
}

function inserted<T>({ fixture }: Situation, work: () => T): T {
  const { db } = fixture.server.app;
  const result = db.write(work);
  db.commit();
  return result;
}

const idOf = ({ fixture }: Situation, table: 'customer' | 'project', uuid: string): number =>
  fixture.server.app.db.value<number>(
    table === 'customer'
      ? sql`SELECT id FROM customer WHERE uuid = ${uuid}`
      : sql`SELECT id FROM project WHERE uuid = ${uuid}`,
  ) as number;

/** Connects a provider of a type to a project of the word's customer, or to another one. */
function connect(
  place: Situation,
  typeName: string,
  object: string,
  projectUuid = place.projects[object].uuid as string,
): Connection {
  const { app } = place.fixture.server;
  const { db } = app;
  const context = systemContext(app);
  const customer = idOf(place, 'customer', place.customers[object].uuid);
  const type = catalogue.types.find(({ name }) => name === typeName);
  return inserted(place, () => {
    const settings = db.insert('service_settings', {
      uuid: newUuid(app),
      name: 'Cloud',
      type: typeName,
      state: 'In Sync',
      customer_id: customer,
      created: context.now,
      synced: context.now,
    });
    createQuotas(context, 'settings', settings, type?.quotas.settings ?? []);
    const service = createService(context, { customer, settings, isAvailableForAll: false }, 'automatic');
    const link = createLink(context, service, idOf(place, 'project', projectUuid), 'automatic');
    const uuidOf = (query: ReturnType<typeof sql>): string => db.value<string>(query) as string;
    return {
      settings,
      linkId: link,
      service: uuidOf(sql`SELECT uuid FROM service WHERE id = ${service}`),
      link: uuidOf(sql`SELECT uuid FROM service_project_link WHERE id = ${link}`),
    };
  });
}

/** Creates the object for a word in the collection of a path; returns its key. */
export function newKeyOf(place: Situation, path: string, object: string): string {
  const collection = collectionOf(path);
  const { app } = place.fixture.server;
  const { db } = app;
  const property = propertyPaths.get(collection);
  const typed = kindPaths.get(collection);
  const whose = object === 'foreign' ? 'foreign' : 'own';
  if (property) {
    const isGlobal = object === 'any';
    const uuid = newUuid(app);
    const settings_id = isGlobal ? null : connect(place, property.type.name, whose).settings;
    inserted(place, () =>
      db.insert('property', {
        uuid,
        kind: property.name,
        settings_id,
        backend: isGlobal ? '' : null,
        backend_id: uuid,
        name: 'One',
      }),
    );
    return uuid;
  }
  if (typed) return newResource(place, typed.name, connect(place, typed.type.name, whose));
  if (entities.has(collection)) return newEntity(place, collection);
  const type = servicePaths.get(collection) ?? linkPaths.get(collection);
  const connection = connect(place, type?.name as string, whose);
  return servicePaths.has(collection) ? connection.service : connection.link;
}

/** Creates a resource in state OK, with its service and link. */
function newResource(place: Situation, kind: string, { linkId }: Connection): string {
  const { app } = place.fixture.server;
  const context = systemContext(app);
  const make = (name: string, values: Readonly<Record<string, unknown>> = {}): { uuid: string; id: number } =>
    insertResource(context, {
      kind: name,
      ...placeOf(app, linkId),
      state: 'OK',
      values: { name: 'one', backend_id: newUuid(app), ...values },
    });
  const parent = catalogue.kind(kind).kind.references?.parent_id?.kind;
  return inserted(place, () => make(kind, parent === undefined ? {} : { parent_id: make(parent).id })).uuid;
}

/** Creates an entity of the guest in a project of JIRA. */
function newEntity(place: Situation, collection: string): string {
  const { app } = place.fixture.server;
  const { db } = app;
  const connection = connect(place, 'JIRA', 'own');
  const project = newResource(place, 'JIRA.Project', connection);
  const { now } = systemContext(app);
  return inserted(place, () => {
    const common = {
      settings_id: connection.settings,
      state: 'OK',
      created: now,
      user_id: db.value<number>(sql`SELECT id FROM user WHERE username = 'guest'`),
    };
    const keys = { 'jira-issues': newUuid(app), 'jira-comments': newUuid(app), 'jira-attachments': newUuid(app) };
    const issue_id = db.insert('jira_issue', {
      ...common,
      uuid: keys['jira-issues'],
      jira_project_id: db.value<number>(sql`SELECT id FROM resource WHERE uuid = ${project}`),
      summary: 'One',
      updated: now,
    });
    db.insert('jira_comment', { ...common, uuid: keys['jira-comments'], issue_id, message: 'One' });
    const attachment_id = db.insert('jira_attachment', {
      ...common,
      uuid: keys['jira-attachments'],
      issue_id,
      name: 'one.txt',
      size: 3,
    });
    db.insert('jira_attachment_file', { attachment_id, content: Buffer.from('One') });
    return keys[collection as keyof typeof keys];
  });
}

/** Returns a valid body for an entity in the callers' project, for users who see its parent if they see the project. */
export function entityBody(place: Situation, path: string, user: string | undefined): unknown {
  const collection = collectionOf(path);
  const { db } = place.fixture.server.app;
  const key = newEntity(place, 'jira-issues');
  const issue = `/api/jira-issues/${key}/`;
  inserted(place, () =>
    db.run(sql`UPDATE jira_issue SET user_id = (SELECT id FROM user WHERE uuid = ${user ?? null}) WHERE uuid = ${key}`),
  );
  if (collection === 'jira-comments') return { issue, message: 'One' };
  if (collection === 'jira-attachments') {
    const form = new FormData();
    form.set('issue', issue);
    form.set('file', new Blob(['One']), 'one.txt');
    return form;
  }
  const project = db.get<{ uuid: string; settings_id: number }>(
    sql`SELECT r.uuid, r.settings_id FROM jira_issue i JOIN resource r ON r.id = i.jira_project_id WHERE i.uuid = ${key}`,
  );
  const property = (kind: string, path: string): string => {
    const uuid = newUuid(place.fixture.server.app);
    inserted(place, () =>
      db.insert('property', {
        uuid,
        kind,
        settings_id: project?.settings_id as number,
        backend: null,
        backend_id: uuid,
        name: 'One',
      }),
    );
    return `/api/${path}/${uuid}/`;
  };
  return {
    jira_project: `/api/jira-projects/${project?.uuid}/`,
    type: property('JIRA.IssueType', 'jira-issue-types'),
    priority: property('JIRA.Priority', 'jira-priorities'),
    summary: 'One',
  };
}

/** Returns valid bodies for services and links; undefined for other collections. */
export async function providedBody(place: Situation, method: string, path: string, object: string): Promise<unknown> {
  const collection = collectionOf(path);
  if (method === 'POST' && (path === `/api/${collection}/` || path === `/api/${collection}/test/`)) {
    if (servicePaths.has(collection))
      return { name: 'Cloud', customer: place.customers[object].url, simulator_latency: '0' };
    const type = linkPaths.get(collection);
    if (!type) return {};
    const { service } = connect(place, type.name, object, await secondProject(place, object));
    return { project: place.projects[object].url, service: `/api/${type.prefix}/${service}/` };
  }
  return method === 'GET' || method === 'DELETE' ? undefined : { name: 'one' };
}

const seconds = new WeakMap<Situation, Map<string, string>>();

/**
 * Creates a second project where all users have the same role as in the first. There they see services without a link to the
 * first.
 */
async function secondProject(place: Situation, object: string): Promise<string> {
  const known = seconds.get(place) ?? new Map<string, string>();
  seconds.set(place, known);
  const present = known.get(object);
  if (present !== undefined) return present;
  const { fixture } = place;
  const project = await fixture.project('Second', place.customers[object]);
  for (const { role, user, user_username } of object === 'own'
    ? (await fixture.staff.get(`/api/project-permissions/?project=${place.projects[object].uuid}&page_size=300`)).body
    : []) {
    // A service account can have only one role.
    if (!user_username.startsWith('sa-')) await fixture.grant(project, { url: user }, role);
  }
  known.set(object, project.uuid);
  return project.uuid;
}
