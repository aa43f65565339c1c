import * as v from 'valibot';
import { Objects, Quotas, type Values } from './objects.ts';
import type { Call } from './session.ts';

/* Network v2.0: networks, subnets, routers, ports, floating IPs, security groups and quotas (providers.md 4.7). */

const text = v.nullish(v.string(), '');
const nullable = v.nullish(v.string(), null);
const common = { id: v.string(), name: text, description: text, project_id: text, created_at: nullable };

const network = v.object({
  ...common,
  'router:external': v.nullish(v.boolean(), false),
  'provider:network_type': text,
  'provider:segmentation_id': v.nullish(v.number(), null),
});

const subnet = v.object({
  ...common,
  network_id: v.string(),
  cidr: text,
  gateway_ip: nullable,
  ip_version: v.nullish(v.number(), 4),
  enable_dhcp: v.nullish(v.boolean(), true),
  dns_nameservers: v.nullish(v.array(v.string()), []),
  allocation_pools: v.nullish(v.array(v.object({ start: v.string(), end: v.string() })), []),
});

const router = v.object({ ...common, external_gateway_info: v.nullish(v.object({ network_id: text }), null) });

const port = v.object({
  ...common,
  network_id: text,
  mac_address: nullable,
  device_id: text,
  device_owner: text,
  security_groups: v.nullish(v.array(v.string()), []),
  fixed_ips: v.nullish(v.array(v.object({ subnet_id: text, ip_address: text })), []),
});

const floatingIp = v.object({
  ...common,
  floating_ip_address: text,
  floating_network_id: text,
  fixed_ip_address: nullable,
  port_id: nullable,
  status: text,
});

const rule = v.object({
  id: v.string(),
  direction: v.string(),
  ethertype: text,
  protocol: nullable,
  port_range_min: v.nullish(v.number(), null),
  port_range_max: v.nullish(v.number(), null),
  remote_ip_prefix: nullable,
  remote_group_id: nullable,
});

const securityGroup = v.object({ ...common, security_group_rules: v.nullish(v.array(rule), []) });

const amount = v.object({ limit: v.number(), used: v.number() });
const quotas = v.object({
  network: amount,
  subnet: amount,
  floatingip: amount,
  security_group: amount,
  security_group_rule: amount,
});

type VendorQuotas = v.InferOutput<typeof quotas>;
export type VendorNetwork = v.InferOutput<typeof network>;
export type VendorSubnet = v.InferOutput<typeof subnet>;
export type VendorRouter = v.InferOutput<typeof router>;
export type VendorPort = v.InferOutput<typeof port>;
export type VendorFloatingIp = v.InferOutput<typeof floatingIp>;
export type VendorRule = v.InferOutput<typeof rule>;
export type VendorSecurityGroup = v.InferOutput<typeof securityGroup>;

export class NetworkApi {
  readonly networks: Objects<VendorNetwork>;
  readonly subnets: Objects<VendorSubnet>;
  readonly routers: Objects<VendorRouter>;
  readonly ports: Objects<VendorPort>;
  readonly floatingIps: Objects<VendorFloatingIp>;
  readonly securityGroups: Objects<VendorSecurityGroup>;
  readonly quotas: Quotas<VendorQuotas>;

  constructor(private readonly call: Call) {
    this.networks = new Objects(call, { path: 'networks', name: 'network', schema: network });
    this.subnets = new Objects(call, { path: 'subnets', name: 'subnet', schema: subnet });
    this.routers = new Objects(call, { path: 'routers', name: 'router', schema: router });
    this.ports = new Objects(call, { path: 'ports', name: 'port', schema: port });
    this.floatingIps = new Objects(call, { path: 'floatingips', name: 'floatingip', schema: floatingIp });
    this.securityGroups = new Objects(call, { path: 'security-groups', name: 'security_group', schema: securityGroup });
    this.quotas = new Quotas(
      call,
      { of: (project) => `/quotas/${project}`, displayed: '/details', name: 'quota' },
      quotas,
    );
  }

  addInterface = (router: string, subnetId: string): Promise<unknown> =>
    this.call('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });

  removeInterface = (router: string, portId: string): Promise<unknown> =>
    this.call('PUT', `/routers/${router}/remove_router_interface`, { port_id: portId });

  addRules = (rules: readonly Values[]): Promise<unknown> =>
    this.call('POST', '/security-group-rules', { security_group_rules: rules });

  deleteRule = (id: string): Promise<unknown> => this.call('DELETE', `/security-group-rules/${id}`);
}
