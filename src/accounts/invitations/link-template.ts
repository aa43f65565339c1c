import { urlOf } from '../../kernel/url.ts';

const place = '{uuid}';

/** The page an invitation leads to; `key` is its secret. */
export const linkOf = (template: string, key: string): string => template.replaceAll(place, key);

/**
 * Scheme, host and port, then the rest: no user before the host, and nothing hidden or on which programs disagree where the
 * host ends.
 */
const webLink = /^https?:\/\/[^\s\p{Cc}\p{Cf}\\<>"/?#@]+(?:[/?#][^\s\p{Cc}\p{Cf}\\<>"]*)?$/iu;

/** A secret that can be part of a host, but not of a port. */
const someSecret = 'a'.repeat(32);

/**
 * What is wrong with a link template: it must hold `{uuid}`, lead to a web page, and to one of the allowed hosts where the
 * deployment has such a list.
 */
export function linkTemplateProblem(template: string, hosts: readonly string[]): string | undefined {
  if (!template.includes(place)) return `Link template must include '${place}' parameter.`;
  const link = linkOf(template, someSecret);
  const url = webLink.test(link) ? urlOf(link) : undefined;
  if (!url) return 'Enter a valid URL.';
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isAllowed = hosts.length === 0 || hosts.includes(url.hostname) || hosts.includes(`${url.hostname}:${port}`);
  return isAllowed ? undefined : 'Host is not allowed.';
}
