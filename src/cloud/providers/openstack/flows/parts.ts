import * as v from 'valibot';
import { minute } from '../../../../kernel/clock.ts';
import type { PlainValues } from '../../../catalogue/driver.ts';
import { ifExists, rejectionOf } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { NetworkApi, VendorFloatingIp, VendorPort } from '../api/network.ts';
import {
  floatingIpValues,
  markerText,
  networkValues,
  ordered,
  securityGroupValues,
  subnetValuesOf,
} from '../mapping/values.ts';
import { connectSubnet, disconnectSubnet } from '../network/routing.ts';
import { idOf, type KindFlows, namingOf, type OperationTarget } from './kind-flows.ts';
import { addRules, replaceRules, ruleSchema, rulesOf } from './rules.ts';

/* The parts of a tenant: networks, subnets, floating IPs, security groups (providers.md 4.4). */

interface Made {
  readonly id: string;
  readonly description?: string | null;
  readonly created_at?: string | null;
}

/**
 * Creates a named part. The service accepts no idempotency key: a part from a call without a response is found by its name and
 * description, and is no older than the operation; the vendor's clock may be off by a minute.
 */
const madePart = (
  { own }: OperationTarget,
  flow: Flow,
  kind: 'networks' | 'subnets' | 'securityGroups',
  more: PlainValues = {},
): Promise<string> => {
  const { call } = flow;
  const { description, name } = namingOf(call);
  const objects: {
    create(values: PlainValues): Promise<string>;
    list(filter: Readonly<Record<string, string>>): Promise<Made[]>;
  } = own.network[kind];
  return flow.createOnce('made', {
    create: () => objects.create({ name, description, project_id: call.parent, ...more }),
    find: async () =>
      (await objects.list({ project_id: call.parent, name })).find(
        (one) =>
          (one.description ?? '') === description && Date.parse(one.created_at ?? '') * 1000 >= call.started - minute,
      )?.id,
    updates: (id) => ({ values: { backend_id: id } }),
  });
};

export const networkFlows: KindFlows = {
  create: async (target, flow) => {
    const id = await madePart(target, flow, 'networks');
    return { values: networkValues(await target.own.network.networks.get(id)) };
  },
  update: ({ own }, call) => own.network.networks.update(idOf(call), namingOf(call)),
  delete: async ({ own: { network } }, flow) => {
    const id = idOf(flow.call);
    for (const subnet of await network.subnets.list({ network_id: id })) await disconnectSubnet(network, subnet.id);
    await network.networks.delete(id);
    return {};
  },
  actions: {},
  pull: async ({ own }, call) => networkValues(await own.network.networks.get(idOf(call))),
};

/** Connects a new subnet to the router of the tenant, so that floating IPs reach its instances. */
export const subnetFlows: KindFlows = {
  create: async (target, flow) => {
    const { network } = target.own;
    const { allocation_pools, cidr, dns_nameservers, enable_dhcp, gateway_ip, ip_version, ...values } =
      flow.call.values;
    const id = await madePart(target, flow, 'subnets', {
      network_id: values.network,
      cidr,
      gateway_ip,
      ip_version,
      enable_dhcp,
      dns_nameservers,
      allocation_pools,
    });
    await flow.ensure('connected', async () => {
      const [router] = await network.routers.list({ project_id: flow.call.parent });
      if (router) await connectSubnet(network, router.id, id);
    });
    return { values: subnetValuesOf(await network.subnets.get(id)) };
  },
  update: ({ own }, call) => own.network.subnets.update(idOf(call), namingOf(call)),
  delete: async ({ own: { network } }, flow) => {
    const id = idOf(flow.call);
    await disconnectSubnet(network, id);
    await network.subnets.delete(id);
    return {};
  },
  actions: {},
  pull: async ({ own }, call) => subnetValuesOf(await own.network.subnets.get(idOf(call))),
};

/** A floating IP with its port. */
async function shownIp({ floatingIps, ports }: NetworkApi, id: string): Promise<PlainValues> {
  const ip: VendorFloatingIp = await floatingIps.get(id);
  const port: VendorPort | undefined = ip.port_id ? await ifExists(ports.get(ip.port_id)) : undefined;
  return floatingIpValues(ip, port);
}

/** Creates a floating IP in an external network for a row. Returns its id. */
export const orderFloatingIp = (
  { own: { network } }: OperationTarget,
  flow: Flow,
  stage: string,
  {
    external,
    uuid,
    updates,
  }: { readonly external: string; readonly uuid: string; readonly updates: (id: string) => RowUpdates },
): Promise<string> => {
  const description = markerText(uuid);
  const project = flow.call.parent;
  return flow.createOnce(stage, {
    create: () => network.floatingIps.create({ floating_network_id: external, project_id: project, description }),
    find: async () => (await network.floatingIps.list({ project_id: project, description }))[0]?.id,
    updates,
  });
};

export const floatingIpFlows: KindFlows = {
  create: async (target, flow) => {
    const { uuid, values } = flow.call;
    const external = String(values.backend_network_id);
    const updates = (created: string): RowUpdates => ({ values: { backend_id: created } });
    const id = await orderFloatingIp(target, flow, 'made', { external, uuid, updates });
    return { values: await shownIp(target.own.network, id) };
  },
  /** Floating IPs have no names or descriptions to change. */
  update: async () => undefined,
  delete: async ({ own }, flow) => {
    await own.network.floatingIps.delete(idOf(flow.call));
    return {};
  },
  actions: {},
  pull: ({ own }, call) => shownIp(own.network, idOf(call)),
};

const rulesSchema = v.array(ruleSchema);

export const securityGroupFlows: KindFlows = {
  create: async (target, flow) => {
    const { network } = target.own;
    const id = await madePart(target, flow, 'securityGroups');
    await addRules(network, id, v.parse(v.optional(rulesSchema, []), flow.call.values.rules));
    return { values: securityGroupValues(await network.securityGroups.get(id)) };
  },
  update: ({ own }, call) => own.network.securityGroups.update(idOf(call), namingOf(call)),
  delete: async ({ own }, flow) => {
    await own.network.securityGroups.delete(idOf(flow.call));
    return {};
  },
  actions: {
    set_rules: async ({ own: { network } }, flow) => {
      const group = idOf(flow.call);
      const rules = v.parse(rulesSchema, flow.call.parameters.rules);
      const before = await flow.once('before', rulesSchema, () => rulesOf(network, group));
      flow.checkpoint('listed');
      const rejection = await rejectionOf(() => replaceRules(network, group, rules));
      if (!rejection) return { values: { rules: ordered(rules) } };
      await replaceRules(network, group, before);
      return flow.fail(rejection.message);
    },
  },
  pull: async ({ own }, call) => securityGroupValues(await own.network.securityGroups.get(idOf(call))),
};
