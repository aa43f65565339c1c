import * as v from 'valibot';
import type { NetworkApi } from '../api/network.ts';
import { shownRule } from '../mapping/values.ts';
import { type NewRule, ruleText } from '../security-group/security-group.ts';

/* The rules of a security group; the vendor has one object for each. */

/** A rule among parameters or values. */
export const ruleSchema = v.object({
  protocol: v.picklist(['', 'tcp', 'udp', 'icmp']),
  from_port: v.number(),
  to_port: v.number(),
  cidr: v.string(),
});

/** A port, type or code in the vendor's format: null for any. */
const nullablePort = (port: number): number | null => (port === -1 ? null : port);

const vendorRule = (group: string, { cidr, from_port: from, protocol, to_port: to }: NewRule) => ({
  security_group_id: group,
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: protocol || null,
  port_range_min: nullablePort(from),
  port_range_max: nullablePort(to),
  remote_ip_prefix: cidr,
});

/** Adds the rules that a group is missing. */
export async function addRules(network: NetworkApi, group: string, rules: readonly NewRule[]): Promise<void> {
  const known = new Set((await rulesOf(network, group)).map(ruleText));
  const missing = new Map(rules.filter((rule) => !known.has(ruleText(rule))).map((rule) => [ruleText(rule), rule]));
  if (missing.size > 0) await network.addRules([...missing.values()].map((rule) => vendorRule(group, rule)));
}

/** The rules of a group that can be shown. */
export async function rulesOf(network: NetworkApi, group: string): Promise<NewRule[]> {
  const { security_group_rules: currentRules } = await network.securityGroups.get(group);
  return (currentRules ?? []).flatMap((rule) => shownRule(rule) ?? []);
}

/** Replaces the rules of a group. Keeps rules that cannot be represented, such as egress rules. */
export async function replaceRules(network: NetworkApi, group: string, rules: readonly NewRule[]): Promise<void> {
  const requiredRules = new Set(rules.map(ruleText));
  const { security_group_rules: currentRules } = await network.securityGroups.get(group);
  for (const rule of currentRules ?? []) {
    const representable = shownRule(rule);
    if (representable && !requiredRules.has(ruleText(representable))) await network.deleteRule(rule.id);
  }
  await addRules(network, group, rules);
}
