import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/fixture.ts';
import type { RestCall, RestRoutes } from '../rest.ts';
import { checkParameters, type ObjectKind, routesOf, type Site } from './objects.ts';
import type { Quotas } from './quotas.ts';
import { denial } from './rejection.ts';

const conflict = (message: string) => denial('network', 409, message);
const interfaceOwner = ({ ha }: Json): string =>
  ha ? 'network:ha_router_replicated_interface' : 'network:router_interface';
const isOfRouter = ({ device_owner: owner }: Json): boolean =>
  [true, false].some((ha) => owner === interfaceOwner({ ha }));

/** Removes a port with its floating IPs. */
export function removePort({ contents: setup }: Site, id: string): void {
  for (const ip of setup.all('network/floatingips')) if (ip.port_id === id) assignPort(ip, undefined);
  setup.remove('network/ports', id);
}

function assignPort(ip: Json, port: Json | undefined): void {
  const [{ ip_address: address = null } = {}] = port?.fixed_ips ?? [];
  Object.assign(ip, { port_id: port?.id ?? null, fixed_ip_address: address, status: port ? 'ACTIVE' : 'DOWN' });
}

/** The kinds of objects of the network service. A project's limits are those of its quotas. */
function objectKinds(site: Site, quotas: Quotas): ObjectKind[] {
  const { contents: setup } = site;
  const { all } = setup;
  const portsIn = (subnet: string): Json[] =>
    all('network/ports').filter(({ fixed_ips: ips }) => ips.some(({ subnet_id: id }: Json) => id === subnet));
  let addresses = 9;
  const newAddress = (subnet: string): string => {
    const { cidr } = setup.with('network/subnets', subnet);
    return `${String(cidr).split('.').slice(0, 3).join('.')}.${++addresses}`;
  };
  const gone = (list: string) => (object: Json) => void setup.remove(list, object.id);
  const common = {
    created: 201,
    filters: ['name', 'project_id', 'network_id', 'device_id', 'description', 'fixed_ips'],
  };
  const named = ['name', 'description', 'project_id'];
  return [
    {
      ...common,
      list: 'network/networks',
      name: 'network',
      parameters: { optional: named },
      changes: ['name', 'description'],
      initialValues: (values, project) => {
        quotas.require('network', values.project_id ?? project, { network: 1 });
        return { 'router:external': false, 'provider:network_type': 'vxlan', 'provider:segmentation_id': 1000 };
      },
      remove: ({ id }) => {
        if (all('network/ports').some(({ network_id: of }) => of === id))
          throw conflict(`Unable to complete operation on network ${id}. There are one or more ports still in use.`);
        for (const subnet of all('network/subnets')) if (subnet.network_id === id) gone('network/subnets')(subnet);
        setup.remove('network/networks', id);
      },
    },
    {
      ...common,
      list: 'network/subnets',
      name: 'subnet',
      parameters: {
        required: ['network_id', 'cidr'],
        optional: [...named, 'gateway_ip', 'ip_version', 'enable_dhcp', 'dns_nameservers', 'allocation_pools'],
      },
      changes: ['name', 'description'],
      initialValues: ({ network_id: id, project_id: of }, project) => {
        setup.with('network/networks', id);
        quotas.require('network', of ?? project, { subnet: 1 });
        return {};
      },
      remove: ({ id }) => {
        if (portsIn(id).length > 0)
          throw conflict(`Unable to complete operation on subnet ${id}: One or more ports have an IP allocation.`);
        setup.remove('network/subnets', id);
      },
    },
    {
      ...common,
      list: 'network/routers',
      name: 'router',
      parameters: { optional: [...named, 'ha'] },
      changes: ['name', 'external_gateway_info'],
      initialValues: () => ({ external_gateway_info: null, status: 'ACTIVE' }),
      change: (_router, { external_gateway_info: gateway }) => {
        if (gateway) setup.with('network/networks', gateway.network_id);
      },
      remove: (router) => {
        if (all('network/ports').some((port) => port.device_id === router.id && isOfRouter(port)))
          throw conflict(`Router ${router.id} still has ports`);
        gone('network/routers')(router);
      },
    },
    {
      ...common,
      list: 'network/ports',
      name: 'port',
      parameters: { required: ['network_id'], optional: [...named, 'fixed_ips', 'security_groups'] },
      changes: ['security_groups', 'name'],
      initialValues: ({ fixed_ips: ips = [], network_id: network, security_groups: groups = [] }) => {
        setup.with('network/networks', network);
        for (const group of groups) setup.with('network/security-groups', group);
        return {
          device_id: '',
          device_owner: '',
          security_groups: groups,
          mac_address: `fa:16:3e:${randomUUID()
            .slice(0, 6)
            .replace(/(..)(?=.)/g, '$1:')}`,
          fixed_ips: ips.map((ip: Json) => ({ ip_address: newAddress(ip.subnet_id), ...ip })),
        };
      },
      remove: ({ id }) => removePort(site, id),
    },
    {
      ...common,
      list: 'network/floatingips',
      name: 'floatingip',
      parameters: { required: ['floating_network_id'], optional: ['project_id', 'description'] },
      changes: ['port_id', 'description'],
      initialValues: ({ floating_network_id: network, project_id: of }, project) => {
        setup.with('network/networks', network);
        quotas.require('network', of ?? project, { floatingip: 1 });
        const address = `198.18.0.${++addresses}`;
        return { floating_ip_address: address, fixed_ip_address: null, status: 'DOWN', port_id: null };
      },
      change: (ip, { port_id: port }) => {
        if (port !== undefined) assignPort(ip, port === null ? undefined : setup.with('network/ports', port));
      },
      remove: gone('network/floatingips'),
    },
    {
      ...common,
      list: 'network/security-groups',
      name: 'security_group',
      parameters: { required: ['name'], optional: named },
      changes: ['name', 'description'],
      initialValues: ({ project_id: of }, project) => {
        quotas.require('network', of ?? project, { security_group: 1 });
        const rule = { direction: 'egress', protocol: null, remote_ip_prefix: null, remote_group_id: null };
        const both = ['IPv4', 'IPv6'].map((ethertype) => ({ id: randomUUID(), ethertype, ...rule }));
        return { security_group_rules: both };
      },
      remove: (group) => {
        if (all('network/ports').some(({ security_groups: groups }) => groups?.includes(group.id)))
          throw conflict(`Security Group ${group.id} in use.`);
        gone('network/security-groups')(group);
      },
    },
  ];
}

export function networkRoutes(site: Site, quotas: Quotas): RestRoutes {
  const { contents: setup } = site;
  const all = objectKinds(site, quotas);
  const ports = all.find(({ list }) => list === 'network/ports');
  const interfaceOf = (call: RestCall): Json => setup.with('network/routers', call.params.id ?? '');
  return {
    ...Object.assign({}, ...all.map((sort) => routesOf(site, sort))),
    'PUT /network/routers/:id/add_router_interface': (call) => {
      const router = interfaceOf(call);
      const subnet = setup.with('network/subnets', call.json.subnet_id);
      const wanted = {
        network_id: subnet.network_id,
        fixed_ips: [{ subnet_id: subnet.id, ip_address: subnet.gateway_ip }],
      };
      if (setup.all('network/ports').some((port) => isOfRouter(port) && port.fixed_ips[0].subnet_id === subnet.id))
        throw denial('network', 400, `Bad router request: Router already has a port on subnet ${subnet.id}.`);
      const port = setup.put('network/ports', {
        ...ports?.initialValues(wanted, router.project_id),
        ...wanted,
        project_id: router.project_id,
        device_id: router.id,
        device_owner: interfaceOwner(router),
      });
      return { json: { id: router.id, port_id: port.id, subnet_id: subnet.id } };
    },
    'PUT /network/routers/:id/remove_router_interface': (call) => {
      const { id } = interfaceOf(call);
      const port = setup.with('network/ports', call.json.port_id);
      if (port.device_id !== id)
        throw denial('network', 404, `Router ${id} does not have an interface with id ${port.id}`);
      removePort(site, port.id);
      return { json: { id, port_id: port.id } };
    },
    'POST /network/security-group-rules': ({ json }) => {
      const rules: Json[] = json.security_group_rules;
      for (const rule of rules) {
        checkParameters('network', rule, {
          required: ['security_group_id', 'direction'],
          optional: [
            'ethertype',
            'protocol',
            'port_range_min',
            'port_range_max',
            'remote_ip_prefix',
            'remote_group_id',
          ],
        });
        const { project_id: project } = setup.with('network/security-groups', rule.security_group_id);
        quotas.require('network', project, { security_group_rule: rules.length });
      }
      const creation = rules.map(({ security_group_id: id, ...rule }) => {
        const stored = { id: randomUUID(), ...rule };
        setup.with('network/security-groups', id).security_group_rules.push(stored);
        return stored;
      });
      return { status: 201, json: { security_group_rules: creation } };
    },
    'DELETE /network/security-group-rules/:id': ({ params: { id } }) => {
      for (const { security_group_rules: rules } of setup.all('network/security-groups')) {
        const index = rules.findIndex((rule: Json) => rule.id === id);
        if (index >= 0) {
          rules.splice(index, 1);
          return { status: 204 };
        }
      }
      throw denial('network', 404, `Security group rule ${id} does not exist`);
    },
  };
}
