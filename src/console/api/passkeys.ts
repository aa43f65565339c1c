/** Creates and uses passkeys of this browser in the formats of the API. */
import {
  type AuthenticationResponseJSON,
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { t } from '../i18n/words.ts';

/** Whether this page can use passkeys. Browsers require https or localhost, and a host name instead of an IP address. */
export const hasPasskeys = browserSupportsWebAuthn() && !/^\[|^[\d.]+$/.test(location.hostname);

/** An assertion by a passkey. */
export type Credential = AuthenticationResponseJSON;

/** A credential to send, or the error message. */
type Result<T> = { readonly credential: T } | { readonly problem: string };

/** Creates a passkey with options from the server. */
export const createPasskey = (options: unknown): Promise<Result<RegistrationResponseJSON>> =>
  attempt(() => startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }));

/** Signs with a passkey, using options from the server. */
export const getPasskey = (options: unknown): Promise<Result<Credential>> =>
  attempt(() => startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON }));

async function attempt<T>(act: () => Promise<T>): Promise<Result<T>> {
  try {
    return { credential: await act() };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  // The library wraps browser errors.
  const { cause, name } = error instanceof Error ? error : {};
  const kind = cause instanceof Error ? cause.name : name;
  if (kind === 'InvalidStateError') return t('You already have a passkey on this device.');
  // Browsers do not reveal whether the user canceled, the time ran out, or no passkey matched.
  if (kind === 'NotAllowedError' || kind === 'AbortError') return t('No passkey was used. Try again.');
  return t('This browser cannot use passkeys here.');
}
