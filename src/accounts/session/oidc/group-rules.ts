/** Rules that grant rights by groups at an OpenID Connect provider (services.md 11.1 "Group rules"). */
import { day, minute } from '../../../kernel/clock.ts';
import { duration } from '../../../kernel/config/setting.ts';
import { errorOf } from '../../../kernel/present.ts';
import { type RoleScope, roleNames } from '../../roles/roles.ts';
import { rejected } from './problems.ts';

/** A global right, or a role in the customer or project with this uuid. */
type Grant =
  | { readonly kind: 'staff' | 'support' }
  | { readonly kind: RoleScope; readonly uuid: string; readonly role: string };

export interface GroupRule {
  /** Spelled as the provider does. */
  readonly group: string;
  readonly grant: Grant;
}

/** The group settings of a provider. */
export interface GroupSettings {
  readonly groupsClaim: string;
  readonly groupRules: readonly GroupRule[];
  /** Lifetime of the granted roles from the login, in microseconds; null for no expiry. */
  readonly groupRolesLast: number | null;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (item: unknown): item is Members => typeof item === 'object' && item !== null && !Array.isArray(item);

const lifetime = duration<number>(30 * day, '', { min: minute });

/** Reads `groups_claim`, `group_rules` and `group_roles_last` of a provider. Throws an error with the broken rule. */
export function readGroupSettings(item: Members): GroupSettings {
  const { group_roles_last: last = '30d', group_rules: rules = [], groups_claim: claim = 'groups' } = item;
  if (typeof claim !== 'string' || claim.trim() === '') throw new Error('groups_claim must be a string');
  if (!Array.isArray(rules)) throw new Error('group_rules must be a list');
  return {
    groupsClaim: claim,
    groupRules: rules.map((rule: unknown, i) => readRule(rule, `group_rules: rule ${i + 1}`)),
    groupRolesLast: readLifetime(last),
  };
}

function readLifetime(text: unknown): number | null {
  if (text === '') return null;
  if (typeof text !== 'string') throw new Error('group_roles_last must be a duration such as 30d, or empty');
  try {
    return lifetime.read(text);
  } catch (error) {
    throw new Error(`group_roles_last ${errorOf(error).message}`, { cause: error });
  }
}

function readRule(rule: unknown, name: string): GroupRule {
  if (!isMembers(rule)) throw new Error(`${name} must be a JSON object`);
  const { group, ...members } = rule;
  if (typeof group !== 'string' || group === '') throw new Error(`${name} needs a group`);
  const grant = grantOf(members);
  if (!grant)
    throw new Error(
      `${name} must have one of "staff": true, "support": true, customer and role, or project and role besides group`,
    );
  if ('uuid' in grant) {
    if (!/^[0-9a-f]{32}$/.test(grant.uuid)) throw new Error(`${name}: ${grant.kind} must be a uuid`);
    const roles = Object.keys(roleNames[grant.kind]);
    if (!roles.includes(grant.role)) throw new Error(`${name}: role must be one of ${roles.join(', ')}`);
  }
  return { group, grant };
}

/** Returns the grant in a rule's members other than `group`; undefined unless there is exactly one. */
function grantOf(members: Members): Grant | undefined {
  const names = Object.keys(members).sort().join(' ');
  const { role } = members;
  for (const kind of ['staff', 'support'] as const) if (names === kind && members[kind] === true) return { kind };
  for (const kind of ['customer', 'project'] as const) {
    const uuid = members[kind];
    if (names === `${kind} role` && typeof uuid === 'string' && typeof role === 'string')
      return { kind, uuid: uuid.toLowerCase(), role };
  }
  return undefined;
}

/**
 * Returns the groups in the claims about a user; none without group rules or the claim. Throws RejectedSignOn if the provider
 * omitted the groups because there are too many, or if the claim is not a list of strings.
 */
export function groupsOf({ groupRules, groupsClaim }: GroupSettings, claims: Members): ReadonlySet<string> {
  if (groupRules.length === 0) return new Set();
  const path = groupsClaim in claims ? [groupsClaim] : groupsClaim.split('.');
  const omitted = claims._claim_names;
  if (isMembers(omitted) && (groupsClaim in omitted || String(path[0]) in omitted))
    throw rejected('invalid', `the user has so many groups that the provider left out the claim ${groupsClaim}`);
  let value: unknown = claims;
  for (const name of path) value = isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  const groups: unknown[] = Array.isArray(value) ? value : [value ?? []].flat();
  if (!groups.every((group) => typeof group === 'string'))
    throw rejected('invalid', `the claim ${groupsClaim} is no list of texts`);
  return new Set(groups);
}
