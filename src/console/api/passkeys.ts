/** Passkeys of this browser, in the forms of the API. */
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

/** Whether pages can use passkeys: browsers allow it on https and at localhost only, and under names rather than addresses. */
export const hasPasskeys = browserSupportsWebAuthn() && !/^\[|^[\d.]+$/.test(location.hostname);

/** The use of a passkey. */
export type Credential = AuthenticationResponseJSON;

/** A credential to send, or the reason why the browser has none. */
type Result<T> = { readonly credential: T } | { readonly problem: string };

/** Creates a passkey with the options of the server. */
export const createPasskey = (options: unknown): Promise<Result<RegistrationResponseJSON>> =>
  attempt(() => startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }));

/** Uses a passkey with the options of the server. */
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
  // The library wraps the errors of browsers.
  const { cause, name } = error instanceof Error ? error : {};
  const kind = cause instanceof Error ? cause.name : name;
  if (kind === 'InvalidStateError') return t('You already have a passkey on this device.');
  // Browsers do not say whether the user canceled, the time passed, or no passkey fits.
  if (kind === 'NotAllowedError' || kind === 'AbortError') return t('No passkey was used. Try again.');
  return t('This browser cannot use passkeys here.');
}
