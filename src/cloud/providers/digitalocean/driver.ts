import * as v from 'valibot';
import { minute } from '../../../kernel/clock.ts';
import { present } from '../../../kernel/present.ts';
import type { Driver, DriverCall, DriverSettings, Inventory, PlainValues, Step } from '../../catalogue/driver.ts';
import { ifExists } from '../../catalogue/provider-error.ts';
import type { VendorHttp } from '../../catalogue/vendor-http.ts';
import { findOrCreate } from '../../operations/creation.ts';
import { idempotentCall } from '../../operations/idempotency.ts';
import type { InjectedKey } from '../../people/injected-key.ts';
import { injectedKeySchema } from '../../people/injected-key.ts';
import { DigitalOceanApi, type VendorAction, type VendorDroplet } from './api.ts';
import { dropletObject, dropletValues, propertySets, runtimeState } from './values.ts';

/** Milliseconds between two polls of a running action. */
const period = 5000;

const actionTypes: Readonly<Record<string, string>> = {
  start: 'power_on',
  stop: 'shutdown',
  restart: 'reboot',
  resize: 'resize',
};

/** Progress of an operation. */
const memoSchema = v.object({
  /** Ids of the keys to inject, and of the droplets that already had this name. */
  keys: v.optional(v.array(v.number()), []),
  before: v.optional(v.array(v.number())),
  droplet: v.optional(v.number()),
  /** Id of the vendor's action to poll. */
  action: v.optional(v.number()),
});

/** Driver for DigitalOcean's API (providers.md 5.4, 5.5). */
export class DigitalOceanDriver implements Driver {
  readonly #api: DigitalOceanApi;

  constructor({ backend_url: backendUrl, token }: DriverSettings, http: VendorHttp) {
    this.#api = new DigitalOceanApi(http, present(backendUrl), token ?? '');
  }

  ping(): Promise<void> {
    return this.#api.account();
  }

  async sync(): Promise<Inventory> {
    const properties = propertySets(await this.#api.regions(), await this.#api.images(), await this.#api.sizes());
    const droplets = await this.#api.droplets();
    return { properties, quotas: {}, objects: droplets.map(dropletObject) };
  }

  async create(call: DriverCall): Promise<Step> {
    const { action, before, droplet } = v.parse(memoSchema, call.memo);
    if (droplet !== undefined)
      return action === undefined ? this.#awaitBirth(droplet, call.memo) : this.#follow(action, droplet, call.memo);
    if (before === undefined) return this.#prepare(call);
    return idempotentCall(call, {
      send: async () => {
        const created = await this.#api.createDroplet(wantedDroplet(call));
        return accepted(created.droplet, created.action);
      },
      find: async () => {
        const existing = (await this.#api.dropletsNamed(String(call.values.name))).find(
          ({ id }) => !before.includes(id),
        );
        return existing && accepted(existing, undefined);
      },
      firstPollMs: period,
    });
  }

  /** Names and descriptions of droplets are not sent to the vendor. */
  async update(): Promise<Step> {
    return { kind: 'done' };
  }

  async delete({ values }: DriverCall): Promise<Step> {
    await this.#api.deleteDroplet(String(values.backend_id));
    return { kind: 'done' };
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    const droplet = String(call.values.backend_id);
    const { action } = v.parse(memoSchema, call.memo);
    if (action !== undefined) return this.#follow(action, droplet, call.memo);
    const type = actionTypes[name];
    if (type === undefined) throw new Error(`DigitalOcean has no action ${name}`);
    const { disk, size } = call.parameters;
    const order = { type, ...(name === 'resize' && { size: String(size), disk: disk === true }) };
    return idempotentCall(call, {
      send: async () => ({ memo: { action: (await this.#api.act(droplet, order)).id } }),
      find: async () => {
        const runningAction = (await ifExists(this.#api.actionsOf(droplet)))?.find(
          (one) => one.type === type && isBegunSince(one, call.started),
        );
        return runningAction && { memo: { action: runningAction.id } };
      },
      firstPollMs: period,
    });
  }

  async pull({ values }: DriverCall): Promise<PlainValues> {
    return dropletValues(await this.#api.droplet(String(values.backend_id)));
  }

  async deleteKey(fingerprint: string): Promise<void> {
    const key = await this.#api.key(fingerprint);
    if (key) await ifExists(this.#api.deleteKey(key.id));
  }

  /**
   * Prepares a creation: lists the droplets that already have this name, so that a lost one can be recognized, and uploads the
   * key last, so that its id is stored before the next request.
   */
  async #prepare({ memo, parameters, values }: DriverCall): Promise<Step> {
    const before = (await this.#api.dropletsNamed(String(values.name))).map(({ id }) => id);
    const key = v.parse(injectedKeySchema, parameters.key);
    return { kind: 'wait', milliseconds: 0, memo: { ...memo, before, keys: key ? [await this.#uploaded(key)] : [] } };
  }

  /** The vendor's id of a key; uploads the key if it is missing. */
  async #uploaded({ fingerprint, name, public_key: publicKey }: Omit<InjectedKey, 'uuid'>): Promise<number> {
    const { id } = await findOrCreate(
      () => this.#api.key(fingerprint),
      () => this.#api.addKey(name || fingerprint, publicKey),
    );
    return id;
  }

  /** Polls an action of the vendor; the operation is done when the action is. */
  async #follow(action: number, droplet: number | string, memo: PlainValues): Promise<Step> {
    const { status, type } = await this.#api.action(action);
    if (status === 'errored') return { kind: 'fail', text: `Backend action ${type} failed` };
    if (status !== 'completed') return { kind: 'wait', milliseconds: period, memo };
    return { kind: 'done', values: dropletValues(await this.#api.droplet(droplet)) };
  }

  /** Polls a droplet without a known action: its creation got no response. */
  async #awaitBirth(droplet: number, memo: PlainValues): Promise<Step> {
    const values = dropletValues(await this.#api.droplet(droplet));
    return values.runtime_state === 'provisioning'
      ? { kind: 'wait', milliseconds: period, memo, values }
      : { kind: 'done', values };
  }
}

/** Stores the id of a new droplet in the row and the memo before the next request. */
const accepted = (
  { id, status }: VendorDroplet,
  action: number | undefined,
): { memo: PlainValues; values: PlainValues } => ({
  memo: { droplet: id, action },
  values: { backend_id: String(id), runtime_state: runtimeState(status) },
});

function wantedDroplet({ memo, parameters, values }: DriverCall): Parameters<DigitalOceanApi['createDroplet']>[0] {
  const image = String(parameters.image);
  return {
    name: String(values.name),
    region: String(parameters.region),
    size: String(parameters.size),
    image: /^\d+$/.test(image) ? Number(image) : image,
    ssh_keys: v.parse(memoSchema, memo).keys,
    ...(values.user_data !== '' && { user_data: String(values.user_data) }),
  };
}

/** Whether the operation that started at an instant may have begun an action. The vendor's clock may be off by a minute. */
const isBegunSince = ({ started_at: begun, status }: VendorAction, started: number): boolean =>
  status === 'in-progress' || Date.parse(begun ?? '') * 1000 >= started - minute;
