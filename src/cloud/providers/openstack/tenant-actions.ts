import type { Request } from '../../../kernel/access/request.ts';
import { type Field, type Fields, hidden, type Values } from '../../../kernel/collection/field.ts';
import { properName } from '../../../kernel/collection/rules.ts';
import { integer, text } from '../../../kernel/collection/values.ts';
import { invalid } from '../../../kernel/http/error.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import type { ActionAcceptance, ResourceAction } from '../../catalogue/type.ts';
import { makeResource } from '../../resources/creation.ts';
import { unbornAddress } from './floating-ip.ts';
import { numbered, type Rule, refuseDefaultName, rulesField } from './security-group.ts';
import { detailOf } from './tenancy.ts';

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
const quotaFields: Fields = Object.fromEntries(settable.map((name) => [name, integer({ min: 1, max: 2_147_483_647 })]));

/** Name and description of what an action makes. */
const namingFields = { name: properName('backend'), description: text({ max: 500 }) };

interface Naming {
  readonly name: string;
  readonly description?: string;
}

/** What the row of a part needs to know of its tenant. */
const inTenant = (tenant: ResourceRow) => ({ parent_id: tenant.id, tenant_backend_id: tenant.backend_id });

function makeNetwork(request: Request, tenant: ResourceRow, values: Values<Fields>): ResourceRow {
  const { description, name } = values as unknown as Naming;
  return makeResource(request, 'OpenStack.Network', tenant, {
    row: { name, description, ...inTenant(tenant), is_external: false, type: '', segmentation_id: null },
  });
}

function makeSecurityGroup(request: Request, tenant: ResourceRow, values: Values<Fields>): ResourceRow {
  const { description, name, rules = [] } = values as unknown as Naming & { rules?: readonly Omit<Rule, 'id'>[] };
  refuseDefaultName(name);
  return makeResource(request, 'OpenStack.SecurityGroup', tenant, {
    row: { name, description, ...inTenant(tenant), rules: numbered(rules) },
  });
}

const makeFloatingIp = (request: Request, tenant: ResourceRow): ResourceRow =>
  makeResource(request, 'OpenStack.FloatingIP', tenant, { row: unbornAddress(tenant) });

const passwordField: Field<string> = hidden(
  text({ max: 50, required: true, help: 'New password of the tenant user.', example: 'correct-horse-1' }),
);

function acceptPassword({ deployment }: Request, tenant: ResourceRow, values: Values<Fields>): ActionAcceptance {
  const { user_password: given } = values as unknown as { user_password: string };
  const present =
    tenant.secrets &&
    (JSON.parse(deployment.secrets.open(tenant.secrets, tenant.uuid)) as { user_password?: string }).user_password;
  if (given === present) throw invalid({ user_password: ['New password cannot match the old password.'] });
  return { secrets: { user_password: given } };
}

/** Actions of a tenant (providers.md 4.3). */
export const tenantActions: readonly ResourceAction[] = [
  {
    name: 'set_quotas',
    fields: quotaFields,
    example: { instances: 40, vcpu: 80, ram: 163_840, storage: 2_048_000 },
    forbid: ({ caller }) => (caller.isStaff ? undefined : 'You do not have permission to perform this action.'),
    answer: { detail: 'Quota update has been scheduled' },
  },
  {
    name: 'create_network',
    fields: namingFields,
    example: { name: 'backend', description: 'Database servers.' },
    make: makeNetwork,
    makes: 'OpenStack.Network',
    answer: {},
  },
  {
    name: 'create_floating_ip',
    refuse: (_request, tenant) =>
      detailOf<string>(tenant, 'external_network_id')
        ? undefined
        : 'Cannot create floating IP if tenant external network is not defined.',
    make: makeFloatingIp,
    makes: 'OpenStack.FloatingIP',
    answer: {},
  },
  {
    name: 'create_security_group',
    fields: { ...namingFields, rules: rulesField() },
    example: {
      name: 'https',
      description: 'Secure web servers.',
      rules: [{ protocol: 'tcp', from_port: 443, to_port: 443, cidr: '0.0.0.0/0' }],
    },
    make: makeSecurityGroup,
    makes: 'OpenStack.SecurityGroup',
    answer: {},
  },
  { name: 'pull_floating_ips', answer: { status: 'Floating IPs pull has been scheduled.' } },
  { name: 'pull_security_groups', answer: { status: 'Security groups pull has been scheduled.' } },
  { name: 'pull_quotas', answer: { status: 'Quotas pull has been scheduled.' } },
  {
    name: 'change_password',
    fields: { user_password: passwordField },
    accept: acceptPassword,
    answer: { status: 'Password update has been scheduled.' },
  },
];
