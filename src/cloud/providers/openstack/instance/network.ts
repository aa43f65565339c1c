import type { Request } from '../../../../kernel/access/request.ts';
import { newUuid } from '../../../../kernel/app.ts';
import { check, FieldError, objectShape } from '../../../../kernel/collection/field.ts';
import { linkText, resolveLink } from '../../../../kernel/collection/links.ts';
import {
  computedValue,
  type Json,
  linkShape,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  optionalLink,
  plainValue,
  textValue,
} from '../../../../kernel/collection/representation.ts';
import { type Sql, sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { PlainValues } from '../../../catalogue/driver.ts';
import { type ResourceRow, stateValue } from '../../../catalogue/resource-row.ts';
import type { AttachedResource } from '../../../catalogue/type.ts';
import { detail, resourceTarget } from '../../../resources/details.ts';
import { type Item, itemError, itemList } from '../../../resources/item-list.ts';
import { knownResource } from '../../../resources/resource.ts';
import { freeAddresses, pendingAddress } from '../floating-ip/floating-ip.ts';
import { internalSubnet } from '../network/network.ts';
import { rulesShape } from '../security-group/security-group.ts';
import { detailOf } from '../tenancy/tenancy.ts';

/*
 * Connections of an instance: security groups, addresses in subnets, floating IPs. The row stores the provider's ids of groups and
 * subnets, and the addresses once they are known.
 */

const groupPath = 'openstack-security-groups';
const subnetPath = 'openstack-subnets';
const floatingPath = 'openstack-floating-ips';

/** The row of a linked object. Throws FieldError. */
const linked = (value: unknown, kind: string, path: string, request: Request): ResourceRow =>
  knownResource(request.db, resolveLink(check(linkText, value), resourceTarget(kind, path)(), request));

/** The link of a member of an item. Throws FieldError under its name. */
function linkedMember(item: Item, member: string, kind: string, path: string, request: Request): ResourceRow {
  if (item[member] === undefined) throw itemError(member, 'This field is required.');
  try {
    return linked(item[member], kind, path, request);
  } catch (error) {
    throw error instanceof FieldError ? itemError(member, String(error.messages[0])) : error;
  }
}

/** SQL of a column of the object whose provider id is the SQL `id`, within the row's settings. */
const named = (kind: string, id: string): string =>
  `resource n
    WHERE n.settings_id = r.settings_id AND n.kind = '${kind}' AND n.backend_id = ${id} AND n.backend_id <> ''`;

const subnetMembers = (id: string): Readonly<Record<string, Json>> => {
  const column = (expression: string): string => `(SELECT ${expression} FROM ${named('OpenStack.SubNet', id)})`;
  return {
    subnet: optionalLink(subnetPath, column('n.uuid')),
    subnet_uuid: textValue(column('n.uuid')),
    subnet_name: textValue(column('n.name')),
    subnet_description: textValue(column('n.description')),
    subnet_cidr: textValue(column(detail('cidr', 'n'))),
  };
};

/** `[{url}]` in requests; the groups with their rules in responses. */
export const securityGroupsField = itemList({
  json: listValue(
    objectValue({
      url: linkValue(groupPath, 'n.uuid'),
      name: notNullText('n.name'),
      rules: computedValue(`ifnull(n.details -> '$.rules', '[]')`, rulesShape),
      description: notNullText('n.description'),
      state: stateValue('n.state'),
    }),
    `json_each(r.details, '$.security_groups') g
        JOIN resource n ON n.settings_id = r.settings_id AND n.kind = 'OpenStack.SecurityGroup'
          AND n.backend_id = g.value AND n.backend_id <> ''`,
    'g.key',
  ),
  accepts: objectShape({ url: linkShape(groupPath) }),
  item: (item, request) => {
    if (item.url === undefined) throw new FieldError(['URL has to be defined for related object.']);
    return linked(item.url, 'OpenStack.SecurityGroup', groupPath, request);
  },
  help: 'Security groups that apply to the machine.',
});

/** `[{subnet}]` in requests; the addresses in responses. */
export const internalIpsField = itemList({
  json: listValue(
    objectValue({
      ip4_address: computedValue(`ifnull(ip.value -> '$.ip4_address', 'null')`, { type: ['string', 'null'] }),
      mac_address: computedValue(`ifnull(ip.value -> '$.mac_address', 'null')`, { type: ['string', 'null'] }),
      ...subnetMembers(`(ip.value ->> 'subnet')`),
    }),
    `json_each(r.details, '$.internal_ips_set') ip`,
    'ip.key',
  ),
  accepts: objectShape({ subnet: linkShape(subnetPath) }),
  item: (item, request) => linkedMember(item, 'subnet', 'OpenStack.SubNet', subnetPath, request),
  help: 'Subnets to connect the machine to. Default: the internal subnet of the private cloud.',
});

/** A requested floating IP: an existing one, or any. */
interface AskedAddress {
  readonly subnet: ResourceRow;
  readonly address: ResourceRow | undefined;
}

/** `[{subnet, url}]` in requests; the addresses in responses. */
export const floatingIpsField = itemList({
  json: listValue(
    objectValue({
      url: linkValue(floatingPath, 'f.uuid'),
      uuid: plainValue('f.uuid'),
      address: computedValue(`ifnull(f.details -> '$.address', '""')`, { type: 'string' }),
      internal_ip_address: computedValue(
        `ifnull((
            SELECT ip.value -> '$.ip4_address' FROM json_each(r.details, '$.internal_ips_set') ip
            WHERE ip.value ->> 'subnet' = ${detail('subnet', 'f')}), 'null')`,
        { type: ['string', 'null'] },
      ),
      ...subnetMembers(detail('subnet', 'f')),
    }),
    `resource f WHERE f.kind = 'OpenStack.FloatingIP' AND f.instance_id = r.id`,
    'f.id',
  ),
  accepts: {
    type: 'object',
    properties: { subnet: linkShape(subnetPath), url: linkShape(floatingPath) },
    required: ['subnet'],
  },
  item: (item, request): AskedAddress => ({
    subnet: linkedMember(item, 'subnet', 'OpenStack.SubNet', subnetPath, request),
    address:
      item.url === undefined || item.url === null
        ? undefined
        : linkedMember(item, 'url', 'OpenStack.FloatingIP', floatingPath, request),
  }),
  help: 'Without a chosen address, the server takes a free floating IP or creates one.',
});

const isOf =
  (tenant: ResourceRow) =>
  (row: ResourceRow): boolean =>
    row.parent_id === tenant.id;

/** The provider's ids of the groups. Throws 400. */
export function groupsOf(tenant: ResourceRow, groups: readonly ResourceRow[] = []): readonly string[] {
  const foreign = groups.find((group) => !isOf(tenant)(group));
  if (foreign)
    throw invalid({
      security_groups: [`Security group ${foreign.name} does not belong to the same tenant as instance.`],
    });
  const unborn = groups.find(({ backend_id: id }) => id === '');
  if (unborn) throw invalid({ security_groups: [`Security group ${unborn.name} is not ready.`] });
  return [...new Set(groups.map(({ backend_id: id }) => id))];
}

/** The requested subnets of an instance; by default the tenant's internal subnet. Throws 400. */
export function subnetsOf(
  request: Request,
  tenant: ResourceRow,
  requested: readonly ResourceRow[] | undefined,
): readonly ResourceRow[] {
  if (requested === undefined) {
    const internal = internalSubnet(request, tenant);
    if (!internal) throw invalid({ tenant: ['Tenant does not have an internal network.'] });
    return [internal];
  }
  const rejected = (text: string) => invalid({ internal_ips_set: [text] });
  if (requested.length === 0) throw rejected('Instance should be connected to at least one network.');
  if (new Set(requested.map(({ id }) => id)).size < requested.length)
    throw rejected('It is impossible to connect instance to one subnet twice.');
  const foreign = requested.find((subnet) => !isOf(tenant)(subnet));
  if (foreign) throw rejected(`Subnet ${foreign.name} does not belong to the same tenant as instance.`);
  const unborn = requested.find(({ backend_id: id }) => id === '');
  if (unborn) throw rejected(`Subnet ${unborn.name} is not ready.`);
  return requested;
}

/** A subnet as the driver needs it, with the pools to take an address from. */
export const subnetParameter = (subnet: ResourceRow): PlainValues => ({
  subnet: subnet.backend_id,
  allocation_pools: detailOf(subnet, 'allocation_pools') ?? [],
});

/** Floating IPs chosen for an instance: parameters of the driver, rows to create, and rows to reserve. */
interface ChosenAddresses {
  readonly parameters: readonly PlainValues[];
  readonly attached: readonly AttachedResource[];
  readonly taken: readonly ResourceRow[];
}

/** Chooses floating IPs, free ones before new ones. `instance` may keep its own. Throws 400. */
export function addressesOf(
  request: Request,
  tenant: ResourceRow,
  requested: readonly AskedAddress[] = [],
  connected: ReadonlySet<string>,
  instance?: ResourceRow,
): ChosenAddresses {
  const rejected = (text: string) => invalid({ floating_ips: [text] });
  if (requested.length > 0 && !detailOf<string>(tenant, 'external_network_id'))
    throw rejected('Please specify tenant external network to perform floating IP operations.');
  const named = new Set(requested.flatMap(({ address }) => address?.id ?? []));
  const own = instance ? attachedAddresses(request, instance) : [];
  const free = [...own, ...freeAddresses(request, tenant)].filter(({ id }) => !named.has(id));
  const chosen = requested.map(({ address, subnet }, i) => {
    if (!isOf(tenant)(subnet) || !connected.has(subnet.backend_id))
      throw rejected('SubNet is not connected to instance.');
    if (address)
      rejectAddress(tenant, address, instance, requested.findIndex((other) => other.address?.id === address.id) < i);
    const row = address ?? free.shift();
    return row
      ? {
          row,
          parameter: {
            backend_id: row.backend_id,
            address: detailOf<string>(row, 'address') ?? '',
            subnet: subnet.backend_id,
          },
        }
      : {
          uuid: newUuid(request.app),
          parameter: { subnet: subnet.backend_id, backend_network_id: pendingAddress(tenant).backend_network_id },
        };
  });
  return {
    parameters: chosen.map(({ parameter, uuid }) => ({ ...parameter, ...(uuid !== undefined && { uuid }) })),
    attached: chosen.flatMap(({ parameter, uuid }) =>
      uuid === undefined
        ? []
        : [{ kind: 'OpenStack.FloatingIP', uuid, values: { ...pendingAddress(tenant), subnet: parameter.subnet } }],
    ),
    taken: chosen.flatMap(({ row }) => (row && row.instance_id === null ? [row] : [])),
  };
}

function rejectAddress(
  tenant: ResourceRow,
  address: ResourceRow,
  instance: ResourceRow | undefined,
  isRepeated: boolean,
): void {
  const rejected = (text: string) => invalid({ floating_ips: [text] });
  if (!isOf(tenant)(address))
    throw rejected(
      `Floating IP ${detailOf<string>(address, 'address')} does not belong to the same tenant as instance.`,
    );
  if (address.state !== 'OK')
    throw rejected(`Floating IP ${detailOf<string>(address, 'address') || address.name} is not ready.`);
  if (isRepeated || isUsedElsewhere(address, instance))
    throw rejected(`Floating IP ${detailOf<string>(address, 'address')} is already in use.`);
}

const isUsedElsewhere = (address: ResourceRow, instance: ResourceRow | undefined): boolean =>
  address.instance_id !== null && address.instance_id !== instance?.id;

/** Floating IPs of an instance. */
export const attachedAddresses = (
  { db }: Pick<Request, 'db'>,
  instance: Pick<ResourceRow, 'id'>,
  condition: Sql = sql`TRUE`,
): ResourceRow[] =>
  db.all<ResourceRow>(
    sql`
      SELECT r.* FROM resource r
      WHERE r.kind = 'OpenStack.FloatingIP' AND r.instance_id = ${instance.id} AND ${condition}
      ORDER BY r.id`,
  );
