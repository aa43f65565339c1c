/** How much customers use of an account at a provider. */
import type { JSX } from 'preact';
import { api } from '../api/connection.ts';
import { useList } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { Part } from '../components/shown.tsx';
import { numberText, t, titleOf } from '../i18n/words.ts';

/** How much each customer uses of an account, those with most resources first. */
export function Usage({ uuid }: { readonly uuid: string }): JSX.Element {
  const path = `/service-settings/${uuid}/usage/`;
  const params = { path: { key: uuid }, query: { o: ['-resource_count' as const], page_size: 10 } };
  const { value: page } = useList(() => api.GET('/api/service-settings/{key}/usage/', { params }), [uuid]);
  const numbers = ['project_count', 'resource_count', 'vcpu', 'ram', 'storage'] as const;
  const counted = numbers.filter((name) => page?.items.some((customer) => typeof customer[name] === 'number'));
  return (
    <Part
      title={t('Usage by customer')}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Nobody uses it yet.') : undefined}
      more={page && page.count > 10 ? hrefOf(path, { o: '-resource_count' }) : undefined}
    >
      {page && page.count > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        <section class="scrolled" tabIndex={0} aria-label={t('Table')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{titleOf('customer')}</th>
                {counted.map((name) => (
                  <th key={name} scope="col">
                    {['ram', 'storage'].includes(name) ? t('{title}, MiB', { title: titleOf(name) }) : titleOf(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {page.items.map((customer) => (
                <tr key={customer.customer_uuid}>
                  <td>
                    <a href={hrefOfLink(customer.customer)}>{customer.customer_name}</a>
                  </td>
                  {counted.map((name) => (
                    <td key={name}>
                      {name === 'resource_count' ? (
                        <a
                          href={hrefOf('/resources/', {
                            service_settings_uuid: uuid,
                            customer_uuid: customer.customer_uuid,
                          })}
                        >
                          {numberText(Number(customer[name]))}
                        </a>
                      ) : (
                        numberText(Number(customer[name]))
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Part>
  );
}
