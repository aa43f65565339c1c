import type { Json } from '../../support/fixture.ts';
import { basicCredentials, checkNames, type RestCall, RestRejection, type RestRoutes, RestTable } from '../rest.ts';
import type { Identity, VendorRequest, VendorResponse } from '../server.ts';
import { StandIn } from '../stand-in.ts';

const media = (kind: string): string => `application/oracle.com.cloud.common.${kind}+json`;
const instanceType = media('DbPlatformInstance');
const byRequest = '/em/cloud/dbaas/dbplatforminstance/byrequest';

/** A database, identified by the request that created it. */
export interface Database {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly params: Json;
  /** State of the request: INITIATED, READY, EXCEPTION. */
  request: string;
  /** State of the database; absent until it exists. */
  status: string | undefined;
  /** The scheduled change of the state, with its time in milliseconds. */
  next: { readonly status: string; readonly at: number } | undefined;
}

/**
 * Imitates the Enterprise Manager's API for databases as a service, and stores databases. Rejects requests that it does not know.
 */
export class Oracle extends StandIn {
  readonly databases = new Map<string, Database>();
  readonly zones = ['East', 'West'];
  readonly passwords = new Map([['sysman', 'password-of-the-account']]);
  /** Milliseconds until a database reaches the requested state. */
  transitionMs = 40_000;
  /** Whether it lists the databases. */
  lists = true;
  #requests = 0;
  readonly #table = new RestTable(this.#routes());

  static start = (now: () => number = Date.now, identity?: Identity): Promise<Oracle> =>
    StandIn.startServer(new Oracle(now), identity);

  route(request: VendorRequest): string {
    return this.#table.nameOf(request);
  }

  override get url(): string {
    return `${this.server.url}/em`;
  }

  /** Returns a rejection for use as a fault. */
  static rejection = (
    status: number,
    text: string,
    headers: Readonly<Record<string, string>> = {},
  ): VendorResponse => ({ status, headers, text });

  /** Returns the database with an id, which must exist. */
  database(id: string): Database {
    const matches = this.databases.get(id);
    if (!matches) throw new RestRejection(404, { message: `No request with id ${id}` });
    return matches;
  }

  reply(request: VendorRequest): VendorResponse {
    for (const database of this.databases.values()) this.#advance(database);
    return this.#table.response(request, {
      before: () => {
        const [name, password] = basicCredentials(request);
        if (password === '' || this.passwords.get(name) !== password)
          throw new RestRejection(401, { message: 'Authorization Required' });
      },
      unknown: new RestRejection(404, { message: 'No such resource' }),
      unreadable: new RestRejection(400, { message: 'Malformed payload' }),
    });
  }

  #advance(database: Database): void {
    const { next } = database;
    if (!next || next.at > this.now()) return;
    Object.assign(database, { request: 'READY', status: next.status, next: undefined });
    if (next.status === 'DELETED') this.databases.delete(database.id);
  }

  #turn(database: Database, now: string | undefined, then: string): void {
    database.status = now;
    database.next = { status: then, at: this.now() + this.transitionMs };
  }

  #displayed = ({ id, name, request, status, zone }: Database): Json => ({
    uri: `${byRequest}/${id}`,
    name,
    resource_state: { state: request, messages: [] },
    context_id: id,
    media_type: instanceType,
    service_family_type: 'dbaas',
    zone,
    ...(status !== undefined && { status }),
  });

  #routes(): RestRoutes {
    const element = (uri: string, name: string, kind: string): Json => ({ uri, name, media_type: media(kind) });
    const collections: Readonly<Record<string, () => Json[]>> = {
      zones: () => this.zones.map((name, n) => element(`/em/cloud/dbaas/zone/82CF${n}`, name, 'DbZone')),
      service_templates: () => [
        element('/em/cloud/dbaas/dbplatformtemplate/BCFF1', 'Database small', 'DbPlatformTemplate'),
        element('/em/cloud/dbaas/schemaplatformtemplate/BCFF2', 'Schema small', 'SchemaPlatformTemplate'),
        element('/em/cloud/dbaas/pluggabledbplatformtemplate/BCFF3', 'Inside', 'PluggableDbPlatformTemplate'),
      ],
    };
    const listed = (all: readonly Json[]): Json => ({ total: String(all.length), elements: all });
    return {
      'GET /em/cloud/service_family_type/dbaas': ({ query }) => {
        const known = [...query.keys()].filter((name) => name in collections);
        return { json: Object.fromEntries(known.map((name) => [name, listed(collections[name]?.() ?? [])])) };
      },

      // A zone lists its databases; the family of services does not.
      'GET /em/cloud/dbaas/zone/:id': (call) => {
        requireType(call, media('DbZone'));
        const matches = collections.zones?.().find(({ uri }) => uri === call.request.target);
        if (!matches) throw new RestRejection(404, { message: 'No such zone' });
        const inside = [...this.databases.values()].filter(({ zone }) => zone === matches.uri);
        const instances = inside.map(({ id, name }) => element(`${byRequest}/${id}`, name, 'DbPlatformInstance'));
        return { json: { ...matches, ...(this.lists && { service_instances: listed(instances) }) } };
      },

      'POST /em/cloud/dbaas/dbplatformtemplate/:id': (call) => {
        requireType(call, instanceType);
        require(call.json, ['zone', 'name', 'params'], ['description']);
        const { name, params, zone } = call.json;
        require(params, ['username', 'password'], ['database_sid', 'service_name']);
        if (call.params.id !== 'BCFF1') throw new RestRejection(404, { message: 'No such service template' });
        if (!collections.zones?.().some(({ uri }) => uri === zone))
          throw new RestRejection(400, { message: `The zone ${zone} is not known` });
        if (params.password.length < 6)
          throw new RestRejection(400, { message: `The password ${params.password} is too short` });
        const id = String(++this.#requests);
        const database = { id, name, zone, params, request: 'INITIATED', status: undefined, next: undefined };
        this.databases.set(id, database);
        this.#turn(database, undefined, 'RUNNING');
        return { json: this.#displayed(database) };
      },

      [`GET ${byRequest}/:id`]: (call) => ({ json: this.#displayed(this.#demanded(call)) }),

      [`POST ${byRequest}/:id`]: (call) => {
        const database = this.#demanded(call);
        require(call.json, ['operation']);
        const { operation } = call.json;
        const [from, now, then] =
          { STARTUP: ['STOPPED', 'STARTING', 'RUNNING'], SHUTDOWN: ['RUNNING', 'STOPPING', 'STOPPED'] }[
            operation as string
          ] ?? [];
        if (then === undefined) throw new RestRejection(400, { message: `Unknown operation ${operation}` });
        if (database.status !== from) throw new RestRejection(409, { message: `The database is ${database.status}` });
        this.#turn(database, now, then);
        return { json: this.#displayed(database) };
      },

      [`DELETE ${byRequest}/:id`]: (call) => {
        const database = this.#demanded(call);
        if (database.status === 'DELETING') throw new RestRejection(409, { message: 'The database is DELETING' });
        this.#turn(database, 'DELETING', 'DELETED');
        return { json: this.#displayed(database) };
      },
    };
  }

  #demanded(call: RestCall): Database {
    requireType(call, instanceType);
    return this.database(call.params.id ?? '');
  }
}

/** Calls about zones and databases declare their media type. */
function requireType({ request: { headers, text } }: RestCall, type: string): void {
  if (headers.accept !== type) throw new RestRejection(406, { message: 'Not Acceptable' });
  if (text !== '' && headers['content-type'] !== type)
    throw new RestRejection(415, { message: 'Unsupported Media Type' });
}

function require(input: Json, required: readonly string[], optional: readonly string[] = []): void {
  const { missing, unknown } = checkNames(input ?? {}, { required, optional });
  if (missing.length > 0) throw new RestRejection(400, { message: `Missing: ${missing.join(', ')}` });
  if (unknown.length > 0) throw new RestRejection(400, { message: `Unknown: ${unknown.join(', ')}` });
}
