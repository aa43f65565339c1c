import * as v from 'valibot';
import { present } from '../../../kernel/present.ts';
import type {
  BackendReference,
  Driver,
  DriverCall,
  DriverSettings,
  Inventory,
  PlainValues,
  Step,
} from '../../catalogue/driver.ts';
import { ifExists, ProviderError } from '../../catalogue/provider-error.ts';
import type { VendorHttp } from '../../catalogue/vendor-http.ts';
import { createOnce } from '../../operations/creation.ts';
import { idempotentCall } from '../../operations/idempotency.ts';
import {
  idOf,
  type NewDatabase,
  type Operation,
  OracleApi,
  pathOf,
  type VendorElement,
  type VendorInstance,
} from './api.ts';
import { databaseTemplate, schemaTemplate } from './properties.ts';

/** Milliseconds between two polls of a request. */
const period = 30_000;

/** Progress of an operation. */
const memoSchema = v.object({
  /** Number of completed operations of an action. */
  done: v.optional(v.number(), 0),
  /** Whether the current operation or the deletion has been requested. */
  isAsked: v.optional(v.boolean(), false),
});

/** The operations of each action, with their target states. */
const actions: Readonly<Record<string, readonly (readonly [Operation, string])[]>> = {
  start: [['STARTUP', 'RUNNING']],
  stop: [['SHUTDOWN', 'STOPPED']],
  restart: [
    ['SHUTDOWN', 'STOPPED'],
    ['STARTUP', 'RUNNING'],
  ],
};

/** Driver for the database API of Oracle Enterprise Manager (providers.md 9). */
export class OracleDriver implements Driver {
  readonly #api: OracleApi;

  constructor({ backend_url: backendUrl, password, username }: DriverSettings, http: VendorHttp) {
    this.#api = new OracleApi(http, present(backendUrl), { username: username ?? '', password: password ?? '' });
  }

  async ping(): Promise<void> {
    await this.#api.zones();
  }

  /** Oracle's lists contain no states, so each known database is read separately. */
  async sync(known: readonly BackendReference[]): Promise<Inventory> {
    const zones = (await this.#api.zones()).map((zone) => ({
      backend_id: idOf(zone),
      name: zone.name ?? '',
      details: { uri: pathOf(zone) },
    }));
    const templates = (await this.#api.templates()).flatMap(templateProperty);
    const objects: Inventory['objects'][number][] = [];
    for (const { backend_id: id, kind } of known) {
      const existing = await ifExists(this.#api.instance(id));
      if (existing && !isGone(existing))
        objects.push({ kind, backend_id: id, name: existing.name ?? '', values: values(existing) });
    }
    return { properties: { Zone: zones, Template: templates }, quotas: {}, objects };
  }

  async create(call: DriverCall): Promise<Step> {
    const name = String(call.values.name);
    const zone = String(call.parameters.zone);
    const idsOf = (instances: readonly VendorElement[] = []): string[] =>
      instances.filter((instance) => instance.name === name).map(idOf);
    return createOnce(call, {
      before: async () => idsOf(await this.#api.instances(zone)),
      make: () => this.#api.create(String(call.parameters.template), wanted(call), String(call.secrets.password)),
      find: async (before) => {
        const instances = await this.#api.instances(zone);
        // The outcome of the call is unknown. Wait rather than create a second database.
        if (!instances) throw new ProviderError('unavailable', 'Backend does not respond');
        return idsOf(instances).find((id) => !before.includes(id));
      },
      follow: (id) => this.#await(id, call.memo, ['RUNNING', 'STOPPED']),
    });
  }

  /** Names and descriptions are not sent to Oracle. */
  async update(): Promise<Step> {
    return { kind: 'done' };
  }

  async delete({ memo, values: { backend_id: id } }: DriverCall): Promise<Step> {
    const existing = await ifExists(this.#api.instance(String(id)));
    if (!existing || isGone(existing)) return { kind: 'done' };
    const { isAsked } = v.parse(memoSchema, memo);
    if (isAsked && hasFailed(existing)) return failure(existing);
    if (!isAsked && stateOf(existing) !== 'DELETING') await this.#api.delete(String(id));
    return {
      kind: 'wait',
      milliseconds: isAsked ? period : 0,
      memo: { ...memo, isAsked: true },
      ...(isAsked && { values: values(existing) }),
    };
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    const id = String(call.values.backend_id);
    const operations = present(actions[name]);
    const { done, isAsked } = v.parse(memoSchema, call.memo);
    const [operation, target] = present(operations[done]);
    if (!isAsked) {
      const requested = { memo: { isAsked: true } };
      return idempotentCall(call, {
        send: async () => {
          await this.#api.operate(id, operation);
          return requested;
        },
        // A changed state means that the operation has begun.
        find: async () => {
          const state = stateOf(await this.#api.instance(id));
          return isResting(state) && state !== target ? undefined : requested;
        },
        firstPollMs: 0,
      });
    }
    const step = await this.#await(id, call.memo, [target]);
    const isLast = done + 1 === operations.length;
    return step.kind === 'done' && !isLast
      ? { kind: 'wait', milliseconds: 0, memo: { done: done + 1 }, values: step.values ?? {} }
      : step;
  }

  async pull({ values: { backend_id: id } }: DriverCall): Promise<PlainValues | undefined> {
    const existing = await this.#api.instance(String(id));
    return isGone(existing) ? undefined : { ...values(existing), ...(existing.name && { name: existing.name }) };
  }

  /** Polls a database until it is in one of these states. */
  async #await(id: string, memo: PlainValues, targets: readonly string[]): Promise<Step> {
    const existing = await this.#api.instance(id);
    if (hasFailed(existing)) return failure(existing);
    if (targets.includes(existing.status ?? '')) return { kind: 'done', values: values(existing) };
    return { kind: 'wait', milliseconds: period, memo, values: values(existing) };
  }
}

/** The state of a database, or of its request while the database has none. */
const stateOf = ({ resource_state: request, status }: VendorInstance): string => status || request?.state || '';

const isResting = (state: string): boolean => state === 'RUNNING' || state === 'STOPPED';

const values = (existing: VendorInstance): PlainValues => ({ runtime_state: stateOf(existing) });

const isGone = (existing: VendorInstance): boolean => stateOf(existing) === 'DELETED';

const hasFailed = ({ resource_state: request }: VendorInstance): boolean => request?.state === 'EXCEPTION';

const failure = (existing: VendorInstance): Step => ({
  kind: 'fail',
  text: `Action ${existing.uri} failed: ${existing.status}`,
  values: values(existing),
});

/** The property of a template. Lists schema templates too, although schemas need other calls to create. */
function templateProperty(template: VendorElement): Inventory['properties'][string] {
  const [, kind] = /\.(DbPlatform|SchemaPlatform)Template\+json$/.exec(template.media_type ?? '') ?? [];
  if (kind === undefined) return [];
  const type = kind === 'DbPlatform' ? databaseTemplate : schemaTemplate;
  return [{ backend_id: idOf(template), name: template.name ?? '', details: { type } }];
}

function wanted({ parameters, secrets, values: row }: DriverCall): NewDatabase {
  const names = { database_sid: row.backend_database_sid, service_name: row.backend_service_name };
  const nonEmpty = Object.entries(names).filter(([, name]) => typeof name === 'string' && name !== '');
  return {
    zone: String(parameters.zone),
    name: String(row.name),
    description: String(row.description),
    params: {
      username: String(parameters.username),
      password: String(secrets.password),
      ...Object.fromEntries(nonEmpty.map(([name, value]) => [name, String(value)])),
    },
  };
}
