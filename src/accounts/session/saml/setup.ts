import type { Request } from '../../../kernel/access/request.ts';
import { present } from '../../../kernel/present.ts';
import { addressesOf } from './addresses.ts';
import type { IdentityProvider } from './identity-providers.ts';
import type { Setup } from './library.ts';

/** The ID of a new message. */
export const newMessageId = ({ app }: Request): string => `_${app.random(20).toString('hex')}`;

/** The service as this request addresses it, and an identity provider. Throws 400. */
export function setupOf(request: Request, provider: IdentityProvider): Setup {
  const { assertionConsumer, entityId } = addressesOf(request);
  return { provider, entityId, assertionConsumer, privateKey: present(request.app.samlKeys).privateKey };
}
