import * as v from 'valibot';
import type { DriverCall, PlainValues, RowChange } from '../../../catalogue/driver.ts';
import { ifExists, rejectionOf } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import { idOf, type KindFlows, type OperationTarget } from '../flows/kind-flows.ts';
import { addRules, ruleSchema } from '../flows/rules.ts';
import { projectValues, tenantNetworks } from '../mapping/inventory.ts';
import { firstLimits, pulledQuotas, pushQuotas } from '../mapping/quotas.ts';
import { floatingIpValues, markerText, networkValues, securityGroupValues, subnetValuesOf } from '../mapping/values.ts';
import { connectSubnet } from '../network/routing.ts';
import { emptyProject } from './empty-project.ts';

/* OpenStack.Tenant: a project with a user, a network and security groups (providers.md 4.8). */

const parametersSchema = v.object({
  slug: v.string(),
  subnet: v.object({
    cidr: v.string(),
    gateway_ip: v.string(),
    allocation_pools: v.array(v.object({ start: v.string(), end: v.string() })),
    ip_version: v.number(),
    enable_dhcp: v.boolean(),
    dns_nameservers: v.array(v.string()),
  }),
  security_groups: v.array(v.object({ name: v.string(), description: v.string(), rules: v.array(ruleSchema) })),
});

async function create({ cloud, options }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { call } = flow;
  const { name, description, external_network_id: external, user_username: user } = call.values;
  const { security_groups: groups, slug, subnet } = v.parse(parametersSchema, call.parameters);
  const identity = await cloud.identity();
  const tag = markerText(call.uuid);
  const project = await flow.createOnce('project', {
    create: () => identity.createProject(String(name), String(description ?? ''), tag),
    find: async () => (await identity.projects(String(name))).find(({ tags }) => tags?.includes(tag))?.id,
    updates: (id) => ({ values: { backend_id: id } }),
  });
  await flow.ensure('role', () => cloud.session.grant(project));
  const own = cloud.in(project);
  const member = await flow.createOnce('user', {
    create: () => identity.createUser(project, String(user), String(call.secrets.user_password)),
    find: () => identity.userOf(project, String(user)),
  });
  await flow.ensure('membership', () => identity.makeMember(project, member));
  const shortSlug = slug.slice(0, 142);
  const part = (stage: string, kind: 'networks' | 'subnets' | 'routers', values: PlainValues): Promise<string> =>
    flow.createOnce(stage, {
      create: () => own.network[kind].create({ ...values, project_id: project }),
      find: async () => (await own.network[kind].list({ project_id: project, name: String(values.name) }))[0]?.id,
    });
  const network = await part('network', 'networks', { name: `${shortSlug}-int-net` });
  const firstSubnet = await part('subnet', 'subnets', { name: `${shortSlug}-sub-net`, network_id: network, ...subnet });
  const ha = options.create_ha_routers === true && { ha: true };
  const router = await part('router', 'routers', { name: `${shortSlug}-router`, ...ha });
  await flow.ensure('interface', () => connectSubnet(own.network, router, firstSubnet));
  await flow.ensure('quotas', () => pushQuotas(cloud, project, firstLimits));
  for (const group of groups) {
    const id = await flow.createOnce(`group ${group.name}`, {
      create: async () => {
        const wanted = { name: group.name, description: group.description, project_id: project };
        return own.network.securityGroups.create(wanted);
      },
      find: async () => (await own.network.securityGroups.list({ project_id: project, name: group.name }))[0]?.id,
    });
    await flow.ensure(`rules ${group.name}`, () => addRules(own.network, id, group.rules));
  }
  if (external) await flow.ensure('gateway', () => setGateway(own, router, String(external)));
  return {
    values: { backend_id: project, internal_network_id: network, ...(await pulled(own, project)) },
    changes: [
      change('Network', network, networkValues(await own.network.networks.get(network))),
      change('SubNet', firstSubnet, subnetValuesOf(await own.network.subnets.get(firstSubnet))),
      ...(await groupChanges(own, project)),
    ],
  };
}

const setGateway = (own: ProjectCloud, router: string, external: string): Promise<unknown> =>
  own.network.routers.update(router, { external_gateway_info: { network_id: external } });

/** A part of the tenant, created without a separate event. */
const change = (kind: string, id: string, values: PlainValues): RowChange => ({
  kind: `OpenStack.${kind}`,
  action: 'put',
  backend_id: id,
  values,
  isSilent: true,
});

async function groupChanges({ network }: ProjectCloud, project: string): Promise<RowChange[]> {
  const groups = await network.securityGroups.list({ project_id: project });
  return groups.map((group) => change('SecurityGroup', group.id, securityGroupValues(group)));
}

async function ipChanges({ network }: ProjectCloud, project: string): Promise<RowChange[]> {
  const ports = new Map((await network.ports.list({ project_id: project })).map((port) => [port.id, port]));
  const ips = await network.floatingIps.list({ project_id: project });
  return ips.map((ip) => change('FloatingIP', ip.id, floatingIpValues(ip, ports.get(ip.port_id ?? ''))));
}

const pulled = async (own: ProjectCloud, project: string): Promise<PlainValues> => ({
  quotas: await pulledQuotas(own, project),
});

/** Removes the project and all of its objects. */
async function remove({ cloud }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { call } = flow;
  const project = idOf(call);
  const identity = await cloud.identity();
  const exists = await flow.once('there', v.boolean(), async () => {
    return (await ifExists(identity.project(project))) !== undefined;
  });
  if (!exists) return {};
  await emptyProject(cloud, cloud.in(project), project, flow);
  await flow.ensure('user', async () => {
    const user = await identity.userOf(project, String(call.values.user_username ?? ''));
    if (user !== undefined) await ifExists(identity.deleteUser(user));
  });
  await ifExists(identity.deleteProject(project));
  return {};
}

async function changePassword({ cloud }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { call } = flow;
  const identity = await cloud.identity();
  const user = await identity.userOf(idOf(call), String(call.values.user_username ?? ''));
  if (user === undefined) flow.fail('Tenant has no user at backend');
  await identity.changePassword(user, String(call.secrets.user_password));
  return {};
}

export const tenantFlows: KindFlows = {
  create,
  update: async ({ cloud }, call) =>
    (await cloud.identity()).updateProject(idOf(call), String(call.values.name), String(call.values.description ?? '')),
  delete: remove,
  actions: {
    set_quotas: async ({ cloud }, flow) => {
      const project = idOf(flow.call);
      const rejection = await rejectionOf(() => pushQuotas(cloud, project, flow.call.parameters));
      // One service may have accepted its limits before another one rejected them.
      const updates = { values: await pulled(cloud.in(project), project) };
      return rejection ? flow.fail(rejection.message, updates) : updates;
    },
    pull_quotas: async ({ cloud }, { call }) => ({ values: await pulled(cloud.in(idOf(call)), idOf(call)) }),
    pull_floating_ips: async ({ cloud }, { call }) => ({ changes: await ipChanges(cloud.in(idOf(call)), idOf(call)) }),
    pull_security_groups: async ({ cloud }, { call }) => ({
      changes: await groupChanges(cloud.in(idOf(call)), idOf(call)),
    }),
    change_password: changePassword,
  },
  pull: pullTenant,
};

async function pullTenant({ cloud }: OperationTarget, call: DriverCall): Promise<PlainValues> {
  const project = idOf(call);
  const existing = projectValues(await (await cloud.identity()).project(project));
  const own = cloud.in(project);
  const networks = await own.network.networks.list({ project_id: project });
  const routers = await own.network.routers.list({ project_id: project });
  return { ...existing, ...tenantNetworks(networks, routers), ...(await pulled(own, project)) };
}
