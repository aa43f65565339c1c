import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { list, networks, oneOf, redirectAddress, text } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof loginSettings>, ConfigOf<typeof policySettings> {}
}

/** The ways to log in. */
export const authenticationMethods = ['LOCAL_SIGNIN', 'SAML2', 'OIDC'] as const;
export type AuthenticationMethod = (typeof authenticationMethods)[number];

/** The login settings. */
export const loginSettings = {
  authentication_methods: list(['LOCAL_SIGNIN'], `Ways to log in: ${authenticationMethods.join(', ')}.`, (item) => {
    if (!authenticationMethods.some((method) => method === item))
      throw new Error(`must list ${authenticationMethods.join(' or ')}, but has "${item}"`);
  }),
  password_reset_url: redirectAddress(
    'Page that sets a new password, for mails to users who forgot theirs; contains {secret}. Default: no such mails.',
    ['secret'],
  ),
  passkey_rp_id: text(
    null,
    'Domain that passkeys belong to: the host of base_url (the default) or a domain above it. Passkeys of another domain no longer work.',
  ),
  second_factor_required: oneOf(
    ['none', 'staff', 'all'],
    'none',
    'Who must set up a second factor before anything else: none, staff (with global support) or all.',
  ),
  staff_networks: networks(
    'Addresses and networks in which the rights of staff and global support apply; elsewhere they act as other users. Default: everywhere.',
  ),
} satisfies Settings;

/** The setting of the policy that users agree to. */
export const policySettings = {
  policy_url: redirectAddress(
    'Page with the policy that users agree to; default: none, and the console does not ask for agreement.',
  ),
} satisfies Settings;
