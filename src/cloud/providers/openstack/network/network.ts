import type { Request } from '../../../../kernel/access/request.ts';
import { type NewValues, objectShape, readOnly, readOnlyList } from '../../../../kernel/collection/field.ts';
import {
  computedValue,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  plainValue,
  textValue,
} from '../../../../kernel/collection/representation.ts';
import { nonBlankName } from '../../../../kernel/collection/rules.ts';
import { text } from '../../../../kernel/collection/values.ts';
import { raw, sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { resourceAction, resourceKind } from '../../../catalogue/type.ts';
import { makeResource } from '../../../resources/creation.ts';
import { detail, shownDetail } from '../../../resources/details.ts';
import { addressList } from '../api/options.ts';
import {
  belowTenant,
  detailOf,
  related,
  relatedFilters,
  relatedLink,
  rowsWhere,
  tenantFields,
  tenantFilters,
  tenantOf,
} from '../tenancy/tenancy.ts';

const networkPath = 'openstack-networks';
const firstCidr = '192.168.42.0/24';

/** The address range of a subnet, which has no separate field in responses. */
export const cidrField = text({
  max: 18,
  update: false,
  pattern: [/^192\.168\.([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-4])\.0\/24$/, 'Value should be 192.168.[1-254].0/24'],
  help: `Addresses of the internal network; default: ${firstCidr}.`,
});

/** Values of a subnet with these addresses. */
export function subnetValues(cidr: string | undefined, nameservers: readonly string[]) {
  const prefix = (cidr || firstCidr).replace(/\.0\/24$/, '');
  return {
    cidr: `${prefix}.0/24`,
    gateway_ip: `${prefix}.1`,
    allocation_pools: [{ start: `${prefix}.10`, end: `${prefix}.200` }],
    ip_version: 4,
    enable_dhcp: true,
    dns_nameservers: nameservers,
  };
}

/** Nameservers for subnets from the settings of a resource. */
export const nameserversOf = ({ db }: Pick<Request, 'db'>, settings: number): string[] =>
  addressList(db.value(sql`SELECT options ->> '$.dns_nameservers' FROM service_settings WHERE id = ${settings}`));

/** The subnets of a network, including those being created. */
const subnetsOf = (request: Pick<Request, 'db'>, network: ResourceRow): ResourceRow[] =>
  rowsWhere(
    request,
    'OpenStack.SubNet',
    sql`r.parent_id = ${network.parent_id} AND ${raw(detail('network'))} = ${network.backend_id}`,
  );

/** Instances with an address in one of the network's subnets. */
function instancesIn(request: Pick<Request, 'db'>, network: ResourceRow): ResourceRow[] {
  const subnets = JSON.stringify(subnetsOf(request, network).map(({ backend_id }) => backend_id));
  return rowsWhere(
    request,
    'OpenStack.Instance',
    sql`
      r.parent_id = ${network.parent_id}
      AND EXISTS (
        SELECT 1 FROM json_each(r.details, '$.internal_ips_set') ip
        WHERE ip.value ->> 'subnet' IN (SELECT value FROM json_each(${subnets})))`,
  );
}

const createSubnetFields = {
  name: nonBlankName('backend-subnet'),
  description: text({ max: 500, lines: 'many' }),
  cidr: cidrField,
};

function makeSubnet(request: Request, network: ResourceRow, input: NewValues<typeof createSubnetFields>): ResourceRow {
  const subnet = subnetValues(input.cidr, nameserversOf(request, network.settings_id));
  const taken = rowsWhere(
    request,
    'OpenStack.SubNet',
    sql`r.parent_id = ${network.parent_id} AND ${raw(detail('cidr'))} = ${subnet.cidr}`,
  );
  if (taken.length > 0) throw invalid({ cidr: [`Subnet with cidr "${subnet.cidr}" is already registered`] });
  return makeResource(request, 'OpenStack.SubNet', network, {
    row: {
      name: input.name,
      description: input.description,
      parent_id: network.parent_id,
      tenant_backend_id: tenantOf(request, network).backend_id,
      network: network.backend_id,
      ...subnet,
    },
  });
}

/** OpenStack.Network (providers.md 4.4) */
export const network = resourceKind({
  ...belowTenant,
  name: 'Network',
  path: networkPath,
  examples: { name: 'backend' },
  plural: 'networks',
  category: undefined,
  isPart: true,
  fields: {
    ...tenantFields,
    is_external: shownDetail('is_external', { type: 'boolean' }, 'false'),
    type: shownDetail('type', { type: 'string' }, '""'),
    segmentation_id: shownDetail('segmentation_id', { type: ['integer', 'null'] }),
    subnets: readOnlyList(
      listValue(
        objectValue({
          url: linkValue('openstack-subnets', 'x.uuid'),
          uuid: plainValue('x.uuid'),
          name: notNullText('x.name'),
          cidr: computedValue(`ifnull(x.details -> '$.cidr', 'null')`, { type: ['string', 'null'] }),
          gateway_ip: computedValue(`ifnull(x.details -> '$.gateway_ip', 'null')`, { type: ['string', 'null'] }),
        }),
        `resource x
          WHERE x.kind = 'OpenStack.SubNet' AND x.parent_id = r.parent_id AND ${detail('network', 'x')} = r.backend_id`,
        'x.id',
      ),
    ),
  },
  filters: tenantFilters,
  isCreatable: false,
  quotaDeltas: () => ({ parent: { network_count: 1 } }),
  deletion: {
    denialReason: (request, row) =>
      instancesIn(request, row).length > 0 ? 'Cannot delete network with existing instances' : undefined,
    removedTogether: (row) =>
      sql`
      r.kind = 'OpenStack.SubNet' AND r.parent_id = ${row.parent_id}
      AND ${raw(detail('network'))} = ${row.backend_id} AND ${row.backend_id} <> ''`,
  },
  actions: [
    resourceAction({
      name: 'create_subnet',
      fields: createSubnetFields,
      example: { name: 'backend-subnet', description: 'Database servers.', cidr: '192.168.43.0/24' },
      denialReason: (request, row) =>
        subnetsOf(request, row).length > 0 ? 'Internal network cannot have more than one subnet.' : undefined,
      make: makeSubnet,
      makes: 'OpenStack.SubNet',
      response: {},
    }),
  ],
});

/** OpenStack.SubNet (providers.md 4.4) */
export const subnet = resourceKind({
  ...belowTenant,
  name: 'SubNet',
  path: 'openstack-subnets',
  examples: { name: 'backend-subnet' },
  plural: 'subnets',
  category: undefined,
  isPart: true,
  fields: {
    ...tenantFields,
    network: relatedLink('OpenStack.Network', networkPath, 'network'),
    network_name: readOnly(
      'string',
      { type: ['string', 'null'] },
      textValue(related('OpenStack.Network', 'network', 'name')),
    ),
    network_uuid: readOnly(
      'string',
      { type: ['string', 'null'] },
      textValue(related('OpenStack.Network', 'network', 'uuid')),
    ),
    cidr: shownDetail('cidr', { type: 'string' }, '""'),
    gateway_ip: shownDetail('gateway_ip'),
    allocation_pools: shownDetail(
      'allocation_pools',
      { type: 'array', items: objectShape({ start: { type: 'string' }, end: { type: 'string' } }) },
      '[]',
    ),
    ip_version: shownDetail('ip_version', { type: 'integer' }, '4'),
    enable_dhcp: shownDetail('enable_dhcp', { type: 'boolean' }, 'true'),
    dns_nameservers: shownDetail('dns_nameservers', { type: 'array', items: { type: 'string' } }, '[]'),
  },
  filters: { ...tenantFilters, ...relatedFilters('network', 'OpenStack.Network', networkPath, 'network') },
  isCreatable: false,
  quotaDeltas: () => ({ parent: { subnet_count: 1 } }),
  deletion: {
    denialReason: (request, row) => {
      const connected = rowsWhere(
        request,
        'OpenStack.Instance',
        sql`
        r.parent_id = ${row.parent_id}
        AND EXISTS (
          SELECT 1 FROM json_each(r.details, '$.internal_ips_set') ip
          WHERE ip.value ->> 'subnet' = ${row.backend_id} AND ${row.backend_id} <> '')`,
      );
      return connected.length > 0 ? 'Cannot delete subnet with existing instances' : undefined;
    },
  },
  actions: [],
});

/** The internal subnet of a tenant: the first that is ready in its internal network. */
export const internalSubnet = (request: Pick<Request, 'db'>, tenant: ResourceRow): ResourceRow | undefined =>
  rowsWhere(
    request,
    'OpenStack.SubNet',
    sql`
      r.parent_id = ${tenant.id} AND r.state = 'OK'
      AND ${raw(detail('network'))} = ${detailOf<string>(tenant, 'internal_network_id') ?? ''}`,
  )[0];
