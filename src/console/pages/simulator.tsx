/** Changes a simulated resource at its provider, as another client of the provider would. */
import type { JSX } from 'preact';
import { isStaff } from '../api/session.ts';
import { Card } from '../components/card.tsx';
import { PostForm } from '../components/post.tsx';
import { t } from '../i18n/words.ts';
import { type Item, textOf } from '../item.ts';

export function SimulatorCard({ resource }: { readonly resource: Item }): JSX.Element | null {
  if (resource.is_simulated !== true || !isStaff.value) return null;
  return (
    <Card title={t('Simulator')}>
      <PostForm
        title={t('Change at the provider')}
        path="/api/simulator/drift/"
        given={{ resource: textOf(resource, 'url') }}
        done={async () => undefined}
      />
    </Card>
  );
}
