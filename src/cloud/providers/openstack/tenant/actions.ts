import type { Request } from '../../../../kernel/access/request.ts';
import { staff } from '../../../../kernel/access/right.ts';
import { type NewValues, optional, writeOnly } from '../../../../kernel/collection/field.ts';
import { nonBlankName } from '../../../../kernel/collection/rules.ts';
import { integer, text } from '../../../../kernel/collection/values.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { type ActionPlan, type ResourceAction, resourceAction } from '../../../catalogue/type.ts';
import { makeResource } from '../../../resources/creation.ts';
import { pendingAddress } from '../floating-ip/floating-ip.ts';
import { numbered, rejectDefaultName, rulesField } from '../security-group/security-group.ts';
import { detailOf } from '../tenancy/tenancy.ts';

const settable = [
  'instances',
  'volumes',
  'snapshots',
  'ram',
  'vcpu',
  'storage',
  'security_group_count',
  'security_group_rule_count',
];
const quotaFields = Object.fromEntries(settable.map((name) => [name, integer({ min: 1, max: 2_147_483_647 })]));

/** Name and description of the object that an action creates. */
const namingFields = { name: nonBlankName('backend'), description: text({ max: 500, lines: 'many' }) };

const groupFields = { ...namingFields, rules: optional(rulesField) };

/** Columns that the row of a part inherits from its tenant. */
const inTenant = (tenant: ResourceRow) => ({ parent_id: tenant.id, tenant_backend_id: tenant.backend_id });

function makeNetwork(
  request: Request,
  tenant: ResourceRow,
  { description, name }: NewValues<typeof namingFields>,
): ResourceRow {
  return makeResource(request, 'OpenStack.Network', tenant, {
    row: { name, description, ...inTenant(tenant), is_external: false, type: '', segmentation_id: null },
  });
}

function makeSecurityGroup(
  request: Request,
  tenant: ResourceRow,
  { description, name, rules = [] }: NewValues<typeof groupFields>,
): ResourceRow {
  rejectDefaultName(name);
  return makeResource(request, 'OpenStack.SecurityGroup', tenant, {
    row: { name, description, ...inTenant(tenant), rules: numbered(rules) },
  });
}

const makeFloatingIp = (request: Request, tenant: ResourceRow): ResourceRow =>
  makeResource(request, 'OpenStack.FloatingIP', tenant, { row: pendingAddress(tenant) });

const passwordFields = {
  user_password: writeOnly(
    text({
      max: 50,
      lines: 'verbatim',
      required: true,
      help: 'New password of the tenant user.',
      example: 'correct-horse-1',
    }),
  ),
};

function acceptPassword(
  { app }: Request,
  tenant: ResourceRow,
  { user_password: input }: NewValues<typeof passwordFields>,
): ActionPlan {
  const secrets: { readonly user_password?: string } = tenant.secrets
    ? JSON.parse(app.secrets.open(tenant.secrets, tenant.uuid))
    : {};
  if (input === secrets.user_password)
    throw invalid({ user_password: ['New password cannot match the old password.'] });
  return { secrets: { user_password: input } };
}

/** Actions of a tenant (providers.md 4.3). */
export const tenantActions: readonly ResourceAction[] = [
  {
    name: 'set_quotas',
    fields: quotaFields,
    example: { instances: 40, vcpu: 80, ram: 163_840, storage: 2_048_000 },
    right: staff,
    response: { detail: 'Quota update has been scheduled' },
  },
  resourceAction({
    name: 'create_network',
    fields: namingFields,
    example: { name: 'backend', description: 'Database servers.' },
    make: makeNetwork,
    makes: 'OpenStack.Network',
    response: {},
  }),
  {
    name: 'create_floating_ip',
    denialReason: (_request, tenant) =>
      detailOf<string>(tenant, 'external_network_id')
        ? undefined
        : 'Cannot create floating IP if tenant external network is not defined.',
    make: makeFloatingIp,
    makes: 'OpenStack.FloatingIP',
    response: {},
  },
  resourceAction({
    name: 'create_security_group',
    fields: groupFields,
    example: {
      name: 'https',
      description: 'Secure web servers.',
      rules: [{ protocol: 'tcp', from_port: 443, to_port: 443, cidr: '0.0.0.0/0' }],
    },
    make: makeSecurityGroup,
    makes: 'OpenStack.SecurityGroup',
    response: {},
  }),
  { name: 'pull_floating_ips', isPull: true, response: { status: 'Floating IPs pull has been scheduled.' } },
  { name: 'pull_security_groups', isPull: true, response: { status: 'Security groups pull has been scheduled.' } },
  { name: 'pull_quotas', isPull: true, response: { status: 'Quotas pull has been scheduled.' } },
  resourceAction({
    name: 'change_password',
    fields: passwordFields,
    accept: acceptPassword,
    response: { status: 'Password update has been scheduled.' },
  }),
];
