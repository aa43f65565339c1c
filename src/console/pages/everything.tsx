import type { JSX } from 'preact';
import { hrefOf } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { inOrder, phrase, t } from '../i18n/words.ts';

/** Every list that the server has, also those that this console knows nothing of. */
export function Everything(): JSX.Element {
  const all = [...collections.value.values()].sort((a, b) => inOrder(a.title, b.title));
  return (
    <>
      <h1 tabIndex={-1}>{t('Everything')}</h1>
      <ul class="columns">
        {all.map(({ name, title }) => (
          <li key={name}>
            <a href={hrefOf(`/${name}/`)}>{title}</a>
          </li>
        ))}
      </ul>
      <p>
        {phrase('Programs do the same by the API: {description}.', {
          description: <a href="docs/">{t('its description')}</a>,
        })}
      </p>
    </>
  );
}
