/** The usage of a provider account by customers. */
import type { JSX } from 'preact';
import { api } from '../api/connection.ts';
import { useList } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { Card } from '../components/card.tsx';
import { PlainTable } from '../components/table.tsx';
import { Value } from '../components/values.tsx';
import { numberText, t, titleOf } from '../i18n/words.ts';

/** The usage of an account by customer, those with the most resources first. */
export function Usage({ uuid }: { readonly uuid: string }): JSX.Element {
  const path = `/service-settings/${uuid}/usage/`;
  const params = { path: { key: uuid }, query: { o: ['-resource_count' as const], page_size: 10 } };
  const { value: page } = useList(() => api.GET('/api/service-settings/{key}/usage/', { params }), [uuid]);
  const numbers = ['project_count', 'resource_count', 'vcpu', 'ram', 'storage'] as const;
  const counted = numbers.filter((name) => page?.items.some((customer) => typeof customer[name] === 'number'));
  return (
    <Card
      title={t('Usage by customer')}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Not used yet.') : undefined}
      isFlush
      more={page && page.count > 10 ? hrefOf(path, { o: '-resource_count' }) : undefined}
    >
      {page && page.count > 0 && (
        <PlainTable label={t('Usage by customer')} heads={[titleOf('customer'), ...counted.map(titleOf)]}>
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
                    <Value name={name} value={customer[name]} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </PlainTable>
      )}
    </Card>
  );
}
