/** The accounts at OpenID Connect providers with which a user can sign in. */
import type { JSX } from 'preact';
import { type Item, isItem, textOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import { Card } from '../components/card.tsx';
import { t, titleOf } from '../i18n/words.ts';

/** The identities of a user, which only the user and staff see; nothing where no one signs in at a provider. */
export function Identities({ user }: { readonly user: Item }): JSX.Element | null {
  const identities = Array.isArray(user.identities) ? user.identities.filter(isItem) : undefined;
  const isUsed = configuration.value?.methods.includes('OIDC') === true;
  if (!identities || (identities.length === 0 && !isUsed)) return null;
  return (
    <Card title={titleOf('identities')} isFlush>
      {identities.length === 0 ? (
        <p class="muted">{t('No identities: the user cannot sign in at a provider.')}</p>
      ) : (
        <ul class="lines">
          {identities.map((identity) => (
            <li key={`${textOf(identity, 'provider')}:${textOf(identity, 'subject')}`}>
              <span class="words">
                <b>{textOf(identity, 'provider')}</b>
                <span class="sub">{textOf(identity, 'subject')}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
