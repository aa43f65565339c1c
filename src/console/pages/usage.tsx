/** The usage of a provider account by customer. */
import type { JSX } from 'preact';
import { type Page, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { Card } from '../components/card.tsx';
import { PlainTable } from '../components/table.tsx';
import { Value } from '../components/values.tsx';
import { numberText, t, titleOf } from '../i18n/words.ts';

/** Reads the usage of an account by customer, the largest first; nothing for an empty uuid. */
export const useAccountUsage = (uuid: string): Page | undefined =>
  usePage(uuid === '' ? '' : `/api${pathOfUsage(uuid)}?o=-resource_count&page_size=10`).value;

const pathOfUsage = (uuid: string): string => `/service-settings/${uuid}/usage/`;

/** The usage of an account by customer. */
export function Usage({ uuid, page }: { readonly uuid: string; readonly page: Page }): JSX.Element {
  const path = pathOfUsage(uuid);
  const numbers = ['project_count', 'resource_count', 'vcpu', 'ram', 'storage'] as const;
  const counted = numbers.filter((name) => page.items.some((customer) => typeof customer[name] === 'number'));
  return (
    <Card
      title={t('Usage by customer')}
      problem={page.problem}
      empty={page.count === 0 ? t('Not used yet.') : undefined}
      isFlush
      more={page.count > 10 ? hrefOf(path, { o: '-resource_count' }) : undefined}
    >
      {page.count > 0 && (
        <PlainTable label={titleOf('customers')} heads={[titleOf('customer'), ...counted.map(titleOf)]}>
          {page.items.map((customer) => (
            <tr key={textOf(customer, 'customer_uuid')}>
              <td>
                <a href={hrefOfLink(textOf(customer, 'customer'))}>{textOf(customer, 'customer_name')}</a>
              </td>
              {counted.map((name) => (
                <td key={name}>
                  {name === 'resource_count' ? (
                    <a
                      href={hrefOf('/resources/', {
                        service_settings_uuid: uuid,
                        customer_uuid: textOf(customer, 'customer_uuid'),
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
