import type { Request } from '../../../../kernel/access/request.ts';
import { messages, type NewValues, objectShape } from '../../../../kernel/collection/field.ts';
import type { JsonSchema } from '../../../../kernel/collection/json-schema.ts';
import { computedValue } from '../../../../kernel/collection/representation.ts';
import type { Database } from '../../../../kernel/db/database.ts';
import { sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { type ActionPlan, resourceAction, resourceKind } from '../../../catalogue/type.ts';
import { type Item, itemError, itemList, wholeError } from '../../../resources/item-list.ts';
import { belowTenant, detailOf, tenantFields, tenantFilters } from '../tenancy/tenancy.ts';

/** An ingress rule of a security group. */
export interface Rule {
  readonly id: number;
  /** Empty: any. */
  readonly protocol: (typeof protocols)[number];
  /** -1: any. For icmp type and code. */
  readonly from_port: number;
  readonly to_port: number;
  readonly cidr: string;
}

export type NewRule = Omit<Rule, 'id'>;

/** A rule as text, for comparisons. */
export const ruleText = ({ cidr, from_port: from, protocol, to_port: to }: NewRule): string =>
  [protocol, from, to, cidr].join(' ');

const protocols = ['', 'tcp', 'udp', 'icmp'] as const;
const anywhere = '0.0.0.0/0';
const badRange = wholeError('Invalid port range.');

/** A port, type or code; `fallback` when it is absent. */
function port(value: unknown, member: string, fallback: number | undefined): number {
  const number =
    value === undefined || value === null || value === ''
      ? fallback
      : typeof value === 'string' && /^-?\d+$/.test(value)
        ? Number(value)
        : value;
  if (number === undefined) throw badRange;
  if (typeof number !== 'number' || !Number.isInteger(number)) throw itemError(member, 'A valid integer is required.');
  return number;
}

function isRange(protocol: Rule['protocol'], from: number, to: number): boolean {
  if (protocol === '') return from === -1 && to === -1;
  if (protocol === 'icmp') return [from, to].every((number) => number >= -1 && number <= 255);
  return from >= 1 && to <= 65_535 && from <= to;
}

function isNetwork(cidr: string): boolean {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(cidr);
  if (match === null) return false;
  return match.slice(1, 5).every((part) => Number(part) <= 255) && Number(match[5]) <= 32;
}

function parseRule(item: Item): NewRule {
  const { protocol: passed } = item;
  if (passed === undefined || passed === null) throw itemError('protocol', messages.required);
  const protocol = protocols.find((known) => known === passed);
  if (protocol === undefined) throw itemError('protocol', messages.choice(passed));
  const needsPorts = protocol === 'tcp' || protocol === 'udp';
  const from = port(item.from_port, 'from_port', needsPorts ? undefined : -1);
  const to = port(item.to_port, 'to_port', needsPorts ? undefined : -1);
  if (!isRange(protocol, from, to)) throw badRange;
  if (item.cidr === undefined || item.cidr === null) throw itemError('cidr', messages.required);
  const cidr = typeof item.cidr === 'string' ? item.cidr.trim() : '';
  if (!isNetwork(cidr)) throw itemError('cidr', 'Enter a valid IPv4 CIDR.');
  return { protocol, from_port: from, to_port: to, cidr };
}

const ruleMembers: Readonly<Record<string, JsonSchema>> = {
  protocol: { type: 'string', enum: protocols },
  from_port: { type: 'integer', examples: [443] },
  to_port: { type: 'integer', examples: [443] },
  cidr: { type: 'string', examples: [anywhere] },
};

/** The rules of a security group in responses. */
export const rulesShape: JsonSchema = {
  type: 'array',
  items: { title: 'SecurityGroupRule', ...objectShape({ id: { type: 'integer' }, ...ruleMembers }) },
};

/** The rules of a security group in requests; a list replaces all rules. */
export const rulesField = itemList({
  json: computedValue(`ifnull(r.details -> '$.rules', '[]')`, rulesShape),
  accepts: {
    type: 'object',
    properties: ruleMembers,
    required: ['protocol', 'cidr'],
    examples: [{ protocol: 'tcp', from_port: 443, to_port: 443, cidr: anywhere }],
  },
  item: parseRule,
  help: 'Ingress rules.',
});

/** Rules with their numbers. */
export const numbered = (rules: readonly NewRule[]): Rule[] => rules.map((rule, i) => ({ id: i + 1, ...rule }));

const rule = (protocol: Rule['protocol'], from_port: number, to_port: number): NewRule => ({
  protocol,
  from_port,
  to_port,
  cidr: anywhere,
});

/** The initial security groups of a tenant. */
export const firstGroups: readonly {
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
}[] = [
  {
    name: 'allow-all',
    description: 'Security group for any access',
    rules: numbered([rule('icmp', -1, -1), rule('tcp', 1, 65_535)]),
  },
  { name: 'ssh', description: 'Security group for secure shell access', rules: numbered([rule('tcp', 22, 22)]) },
  { name: 'ping', description: 'Security group for ping', rules: numbered([rule('icmp', -1, -1)]) },
  { name: 'rdp', description: 'Security group for remote desktop access', rules: numbered([rule('tcp', 3389, 3389)]) },
  {
    name: 'web',
    description: 'Security group for http and https access',
    rules: numbered([rule('tcp', 80, 80), rule('tcp', 443, 443)]),
  },
];

/** Protects the group that the provider creates in every tenant. Throws 400. */
export function rejectDefaultName(name: string | undefined): void {
  if (name === 'default') throw invalid({ name: ['Default security group is managed by OpenStack itself.'] });
}

const rulesOf = (group: Pick<ResourceRow, 'details'>): readonly Rule[] =>
  detailOf<readonly Rule[]>(group, 'rules') ?? [];

/** Whether an instance of the same settings has the group. */
const isInUse = (db: Database, { backend_id: id, settings_id: settings }: ResourceRow): boolean =>
  id !== '' &&
  db.value(sql`
    SELECT 1 FROM resource r, json_each(r.details, '$.security_groups') g
    WHERE r.settings_id = ${settings} AND r.kind = 'OpenStack.Instance' AND g.value = ${id} LIMIT 1`) !== undefined;

/** Accepts a bare list too. */
const setRulesFields = { rules: { ...rulesField, input: { ...rulesField.input, canBeBareList: true } } };

function acceptRules(_request: Request, group: ResourceRow, values: NewValues<typeof setRulesFields>): ActionPlan {
  const rules = numbered(values.rules);
  return {
    parameters: { rules },
    quotaDeltas: { parent: { security_group_rule_count: rules.length - rulesOf(group).length } },
  };
}

/** OpenStack.SecurityGroup (providers.md 4.4) */
export const securityGroup = resourceKind({
  ...belowTenant,
  name: 'SecurityGroup',
  path: 'openstack-security-groups',
  examples: { name: 'https' },
  plural: 'security groups',
  category: undefined,
  isPart: true,
  fields: { ...tenantFields, rules: { ...rulesField, input: undefined } },
  filters: tenantFilters,
  isCreatable: false,
  checkUpdate: (_request, _group, { name }) => rejectDefaultName(name),
  deletion: {
    denialReason: ({ db }, group) => (isInUse(db, group) ? 'Cannot delete security group that is in use.' : undefined),
  },
  quotaDeltas: (group) => ({ parent: { security_group_count: 1, security_group_rule_count: rulesOf(group).length } }),
  actions: [
    resourceAction({
      name: 'set_rules',
      fields: setRulesFields,
      accept: acceptRules,
      response: { status: 'Rules update was successfully scheduled.' },
    }),
  ],
});
