/** The server's public configuration: sign-in methods and the policy to agree to. */
import { signal } from '@preact/signals';
import { api, responseOf } from './connection.ts';

export interface Configuration {
  /** The ways to sign in. */
  readonly methods: readonly string[];
  /** The URL of the policy that users must accept; undefined without a policy. */
  readonly policy: string | undefined;
  /** Whether owners grant roles in their customers (core.md 8.2); otherwise only staff do. */
  readonly isOwnerGranting: boolean;
  /** The OpenID Connect providers for sign-in. */
  readonly providers: readonly LoginProvider[];
  /** The logins to try, if the server started with sample data. */
  readonly demo: { readonly password: string; readonly logins: readonly Login[] } | undefined;
}

export interface LoginProvider {
  readonly name: string;
  readonly label: string;
  /** The URL that starts the sign-in. */
  readonly url: string;
  /** Whether the sign-in starts without a click. */
  readonly isAutomatic: boolean;
}

interface Login {
  readonly username: string;
  readonly role: string;
}

/** Undefined until it is loaded. */
export const configuration = signal<Configuration | undefined>(undefined);

export async function readConfiguration(): Promise<void> {
  const response = await responseOf(api.GET('/api/configuration/', { credentials: 'omit' }));
  if (!response.isOk) return;
  const {
    AUTHENTICATION_METHODS: methods,
    OWNERS_CAN_MANAGE_OWNERS: isOwnerGranting,
    POLICY_URL: policy,
  } = response.body.WALDUR_CORE;
  const providers = (response.body.TENANTRY_AUTH_OIDC?.PROVIDERS ?? []).map(
    ({ AUTO_REDIRECT: isAutomatic, LABEL: label, LOGIN_URL: url, NAME: name }) => ({ name, label, url, isAutomatic }),
  );
  configuration.value = { methods, policy, isOwnerGranting, providers, demo: response.body.DEMO };
}
