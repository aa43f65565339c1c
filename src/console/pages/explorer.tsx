/** The API explorer: every list of the server, including those without a page. */
import type { JSX } from 'preact';
import { hrefOf } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { Card } from '../components/card.tsx';
import { PageHeader } from '../components/page.tsx';
import { inOrder, phrase, t } from '../i18n/words.ts';

export function Explorer(): JSX.Element {
  const all = [...collections.value.values()].sort((a, b) => inOrder(a.title, b.title));
  return (
    <>
      <PageHeader
        title={t('API explorer')}
        lead={phrase('Every list of the API. Programs use the same: {documentation}.', {
          documentation: <a href="docs/">{t('API documentation')}</a>,
        })}
      />
      <Card title={t('Lists')}>
        <ul class="columns">
          {all.map(({ name, title }) => (
            <li key={name}>
              <a href={hrefOf(`/${name}/`)}>{title}</a> <code class="muted">/api/{name}/</code>
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}
