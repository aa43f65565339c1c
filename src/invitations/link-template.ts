import { urlOf } from '../url.ts';

const place = '{uuid}';

/** The page an invitation leads to. */
export const linkOf = (template: string, uuid: string): string => template.replaceAll(place, uuid);

/**
 * What is wrong with a link template: it must hold `{uuid}`, lead to a web page, and to one of the allowed hosts where the
 * deployment has such a list. Characters on which programs disagree where the host ends are refused.
 */
export function linkTemplateProblem(template: string, hosts: readonly string[]): string | undefined {
  if (!template.includes(place)) return `Link template must include '${place}' parameter.`;
  const link = linkOf(template, '0'.repeat(32));
  const url = /^https?:\/\/[^\s\\<>"]+$/i.test(link) ? urlOf(link) : undefined;
  if (!url || url.username !== '' || url.password !== '') return 'Enter a valid URL.';
  const isAllowed = hosts.length === 0 || hosts.includes(url.hostname) || hosts.includes(url.host);
  return isAllowed ? undefined : 'Host is not allowed.';
}
