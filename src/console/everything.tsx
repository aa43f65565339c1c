import type { JSX } from 'preact';
import { hrefOf } from './route.ts';
import { collections } from './session.ts';

/** Every list that the server has, also those that this console knows nothing of. */
export function Everything(): JSX.Element {
  const all = [...collections.value.values()].sort((a, b) => a.title.localeCompare(b.title));
  return (
    <>
      <h1 tabIndex={-1}>Everything</h1>
      <ul class="columns">
        {all.map(({ name, title }) => (
          <li key={name}>
            <a href={hrefOf(`/${name}/`)}>{title}</a>
          </li>
        ))}
      </ul>
      <p>
        Programs do the same by the API: <a href="docs/">its description</a>.
      </p>
    </>
  );
}
