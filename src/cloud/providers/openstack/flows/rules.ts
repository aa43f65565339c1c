import * as v from 'valibot';
import type { NetworkApi } from '../api/network.ts';
import { shownRule } from '../mapping/values.ts';
import { type NewRule, ruleText } from '../security-group/security-group.ts';

/* The rules of a security group, of which the vendor has one object each. */

/** A rule among parameters or values. */
export const ruleSchema = v.object({
  protocol: v.picklist(['', 'tcp', 'udp', 'icmp']),
  from_port: v.number(),
  to_port: v.number(),
  cidr: v.string(),
});

/** A port, type or code as the vendor says it: null for any. */
const bound = (port: number): number | null => (port === -1 ? null : port);

const wanted = (group: string, { cidr, from_port: from, protocol, to_port: to }: NewRule) => ({
  security_group_id: group,
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: protocol || null,
  port_range_min: bound(from),
  port_range_max: bound(to),
  remote_ip_prefix: cidr,
});

/** Adds those of the rules that a group does not have. */
export async function addRules(network: NetworkApi, group: string, rules: readonly NewRule[]): Promise<void> {
  const known = new Set((await rulesOf(network, group)).map(ruleText));
  const missing = new Map(rules.filter((rule) => !known.has(ruleText(rule))).map((rule) => [ruleText(rule), rule]));
  if (missing.size > 0) await network.addRules([...missing.values()].map((rule) => wanted(group, rule)));
}

/** The rules of a group that can be shown. */
export async function rulesOf(network: NetworkApi, group: string): Promise<NewRule[]> {
  const { security_group_rules: present } = await network.securityGroups.get(group);
  return (present ?? []).flatMap((rule) => shownRule(rule) ?? []);
}

/** Makes these the rules of a group. What cannot be shown as a rule, such as what goes out, stays as it is. */
export async function replaceRules(network: NetworkApi, group: string, rules: readonly NewRule[]): Promise<void> {
  const kept = new Set(rules.map(ruleText));
  const { security_group_rules: present } = await network.securityGroups.get(group);
  for (const rule of present ?? []) {
    const shown = shownRule(rule);
    if (shown && !kept.has(ruleText(shown))) await network.deleteRule(rule.id);
  }
  await addRules(network, group, rules);
}
