import type { Driver, DriverCall, DriverSettings, Inventory, PlainValues, Step } from '../../catalogue/driver.ts';
import { ProviderError } from '../../catalogue/provider-error.ts';
import type { VendorHttp } from '../../catalogue/vendor-http.ts';
import { runFlow } from '../../operations/flow.ts';
import { Cloud } from './api/cloud.ts';
import { administrationProject } from './api/options.ts';
import { Session, TokenStore } from './api/session.ts';
import type { KindFlows } from './flows/kind-flows.ts';
import { floatingIpFlows, networkFlows, securityGroupFlows, subnetFlows } from './flows/parts.ts';
import { instanceFlows } from './instance/flow.ts';
import { inventory } from './mapping/inventory.ts';
import { snapshotFlows } from './snapshot/flow.ts';
import { tenantFlows } from './tenant/flow.ts';
import { volumeFlows } from './volume/flow.ts';

const kinds: Readonly<Record<string, KindFlows>> = {
  Tenant: tenantFlows,
  Instance: instanceFlows,
  Volume: volumeFlows,
  Snapshot: snapshotFlows,
  SecurityGroup: securityGroupFlows,
  FloatingIP: floatingIpFlows,
  Network: networkFlows,
  SubNet: subnetFlows,
};

/** Driver for the APIs of OpenStack services (providers.md 4.7, 4.8). */
class OpenStackDriver implements Driver {
  readonly #cloud: Cloud;

  constructor(
    private readonly settings: DriverSettings,
    http: VendorHttp,
    tokens: TokenStore,
  ) {
    this.#cloud = new Cloud(new Session(http, settings, tokens));
  }

  /** Logs in without cached tokens, because credentials may have changed. */
  async ping(): Promise<void> {
    const { roles } = await this.#cloud.session.logIn();
    if (!roles) throw new ProviderError('unauthorized', 'Unable to validate credentials');
    if (!roles.some(({ name }) => name === 'admin'))
      throw new ProviderError('unauthorized', 'Provided credentials are not for admin tenant');
  }

  sync(): Promise<Inventory> {
    return inventory(this.#cloud, administrationProject(this.settings.options));
  }

  create(call: DriverCall): Promise<Step> {
    return runFlow(call, (flow) => flows(call).create(this.#targetOf(call), flow));
  }

  async update(call: DriverCall): Promise<Step> {
    await flows(call).update(this.#targetOf(call), call);
    return { kind: 'done' };
  }

  delete(call: DriverCall): Promise<Step> {
    return runFlow(call, (flow) => flows(call).delete(this.#targetOf(call), flow));
  }

  action(name: string, call: DriverCall): Promise<Step> {
    const action = flows(call).actions[name];
    if (!action) throw new Error(`${call.kind} has no action ${name}`);
    return runFlow(call, (flow) => action(this.#targetOf(call), flow));
  }

  pull(call: DriverCall): Promise<PlainValues> {
    return flows(call).pull(this.#targetOf(call), call);
  }

  async deleteKey(fingerprint: string): Promise<void> {
    const { compute } = this.#cloud;
    for (const key of await compute.keyPairs())
      if (key.fingerprint === fingerprint) await compute.deleteKeyPair(key.name);
  }

  #targetOf(call: DriverCall) {
    for (const secret of Object.values(call.secrets)) this.#cloud.session.conceal(secret);
    return { cloud: this.#cloud, own: this.#cloud.in(call.parent), options: this.settings.options };
  }
}

/** The flows of a kind. */
function flows({ kind }: DriverCall): KindFlows {
  const known = kinds[kind];
  if (!known) throw new Error(`OpenStack has no ${kind}`);
  return known;
}

/** Creates the drivers of a deployment, which share a token cache. */
export function openStackDriver(): (settings: DriverSettings, http: VendorHttp) => Driver {
  const tokens = new TokenStore();
  return (settings, http) => new OpenStackDriver(settings, http, tokens);
}
