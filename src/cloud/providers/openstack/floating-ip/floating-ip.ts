import type { Request } from '../../../../kernel/access/request.ts';
import { exact } from '../../../../kernel/collection/filter.ts';
import { sql } from '../../../../kernel/db/sql.ts';
import type { PlainValues } from '../../../catalogue/driver.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { resourceKind } from '../../../catalogue/type.ts';
import { detail, instanceFields, instanceFilters, instanceOrderings, shownDetail } from '../../../resources/details.ts';
import { attachable, detailOf, rowsWhere, tenantFields, tenantFilters } from '../tenancy/tenancy.ts';

/** Values of a floating IP that has no address yet. */
export const pendingAddress = (tenant: ResourceRow): PlainValues => ({
  name: `Floating IP of ${tenant.name}`.slice(0, 150),
  parent_id: tenant.id,
  tenant_backend_id: tenant.backend_id,
  backend_network_id: detailOf<string>(tenant, 'external_network_id') ?? '',
  address: '',
});

/** Unused floating IPs of a tenant. */
export const freeAddresses = (request: Pick<Request, 'db'>, tenant: ResourceRow): ResourceRow[] =>
  rowsWhere(
    request,
    'OpenStack.FloatingIP',
    sql`r.parent_id = ${tenant.id} AND r.state = 'OK' AND r.instance_id IS NULL`,
  );

/** OpenStack.FloatingIP (providers.md 4.4) */
export const floatingIp = resourceKind({
  ...attachable,
  pushedFields: [],
  name: 'FloatingIP',
  path: 'openstack-floating-ips',
  plural: 'floating ips',
  category: undefined,
  isPart: true,
  runtime: {},
  fields: {
    ...tenantFields,
    address: shownDetail('address', { type: 'string' }, '""'),
    backend_network_id: shownDetail('backend_network_id', { type: 'string' }, '""'),
    ...instanceFields('openstack-instances'),
  },
  filters: { ...tenantFilters, ...instanceFilters('openstack-instances'), address: exact(detail('address')) },
  orderings: instanceOrderings,
  isCreatable: false,
  isUpdatable: false,
  quotaDeltas: () => ({ parent: { floating_ip_count: 1 } }),
  deletion: { denialReason: (_request, row) => (row.instance_id === null ? undefined : 'Floating IP is in use.') },
  actions: [],
});
