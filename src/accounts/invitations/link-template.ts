import type { Config } from '../../kernel/config/config.ts';
import { urlOf } from '../../kernel/url.ts';

const placeholder = '{uuid}';

/** Returns the link of an invitation with its secret. */
export const linkOf = (template: string, key: string): string => template.replaceAll(placeholder, key);

/**
 * Matches scheme, host and port, then the rest. Excludes user information, invisible characters, and characters that make
 * programs disagree about where the host ends.
 */
const webLink = /^https?:\/\/[^\s\p{Cc}\p{Cf}\\<>"/?#@]+(?:[/?#][^\s\p{Cc}\p{Cf}\\<>"]*)?$/iu;

/** A sample secret that is valid in a host but not in a port. */
const sampleSecret = 'a'.repeat(32);

type HostSettings = Pick<Config, 'allowed_origins' | 'base_url' | 'link_template_hosts' | 'login_completed_url'>;

/** Returns the allowed hosts of link templates, from invitation_link_hosts or other settings. An empty list allows any host. */
function allowedHosts(config: HostSettings): readonly string[] {
  if (config.link_template_hosts.length > 0) return config.link_template_hosts;
  const own = [config.base_url, config.login_completed_url].flatMap((url) => urlOf(url ?? '')?.host ?? []);
  return [...own, ...config.allowed_origins.map((origin) => origin.replace(/^https?:\/\//, ''))];
}

/** Whether a URL matches a host pattern. `*` is any host, one label at the start of a name, or any port. */
function matchesHost(url: URL, pattern: string): boolean {
  const [, host = '', port = '*'] = /^(\*|\[.*\]|[^:]*)(?::(\d+|\*))?$/.exec(pattern) ?? [];
  if (port !== '*' && port !== (url.port || (url.protocol === 'https:' ? '443' : '80'))) return false;
  if (!host.startsWith('*.')) return host === '*' || host === url.hostname;
  const [label = '', ...rest] = url.hostname.split('.');
  return label !== '' && rest.join('.') === host.slice('*.'.length);
}

/** Returns an error message for a link template unless it contains `{uuid}` and is a web address on an allowed host. */
export function linkTemplateProblem(template: string, config: HostSettings): string | undefined {
  if (!template.includes(placeholder)) return `Link template must include '${placeholder}' parameter.`;
  const link = linkOf(template, sampleSecret);
  const url = webLink.test(link) ? urlOf(link) : undefined;
  if (!url) return 'Enter a valid URL.';
  const hosts = allowedHosts(config);
  return hosts.length === 0 || hosts.some((host) => matchesHost(url, host)) ? undefined : 'Host is not allowed.';
}
