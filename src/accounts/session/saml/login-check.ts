/** Checks the metadata of SAML identity providers, without a user (services.md 11.2). */
import { errorOf } from '../../../kernel/present.ts';
import { type LoginCheck, type LoginCheckStep, passed } from '../sso/login-check.ts';
import type { IdentityProvider } from './identity-providers.ts';
import type { readMetadata } from './idp-metadata.ts';
import type { MetadataSource } from './refresh.ts';

type Parse = (
  metadata: Parameters<typeof readMetadata>[0],
) => readonly IdentityProvider[] | Promise<readonly IdentityProvider[]>;

/** Reads the metadata of a source and checks its identity providers. Never rejects. */
export async function checkMetadata(source: MetadataSource, parse: Parse, now: number): Promise<LoginCheck> {
  return { name: source.label, protocol: 'saml', steps: await stepsOf(source, parse, now) };
}

async function stepsOf({ read, signer }: MetadataSource, parse: Parse, now: number): Promise<LoginCheckStep[]> {
  const step = (name: string, result: string): LoginCheckStep => ({ step: name, result });
  const needsMetadata = 'Make the metadata readable first: this step needs it.';
  try {
    const bytes = await read();
    try {
      const providers = await parse({ bytes, now, signer });
      return [step('download', passed), step('metadata', passed), step('login', loginResult(providers))];
    } catch (error) {
      const what =
        signer === undefined ? 'Replace the metadata' : 'Replace the metadata, or the certificate that signs it';
      return [
        step('download', passed),
        step('metadata', `${what}: ${errorOf(error).message.replace(/\.$/, '')}.`),
        step('login', needsMetadata),
      ];
    }
  } catch (error) {
    const reason = `Make the metadata readable: ${errorOf(error).message.replace(/\.$/, '')}.`;
    return [step('download', reason), step('metadata', needsMetadata), step('login', needsMetadata)];
  }
}

/** Checks that browsers can log in at each identity provider. */
function loginResult(providers: readonly IdentityProvider[]): string {
  const unusable = providers.filter(({ loginUrl }) => loginUrl === null).map(({ entityId }) => entityId);
  return unusable.length === 0
    ? passed
    : `Let ${unusable.slice(0, 3).join(', ')}${unusable.length > 3 ? ` and ${unusable.length - 3} more` : ''} offer logins by HTTP-Redirect.`;
}
