import ipaddr from 'ipaddr.js';
import { FieldError, refine } from '../../../../kernel/collection/field.ts';
import { boolean, text, url } from '../../../../kernel/collection/values.ts';
import { degrees } from '../../../catalogue/options.ts';
import { pattern } from '../../../catalogue/pattern.ts';

const isAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);

/** Parses a comma-separated list of addresses. */
export const addressList = (text: unknown): string[] =>
  typeof text === 'string'
    ? text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    : [];

/** Options of OpenStack settings (providers.md 4.1); `domain` is a credential. */
export const options = {
  tenant_name: text({
    max: 255,
    help: 'Project of the administrator, for calls about the whole provider; default: admin.',
  }),
  availability_zone: text({ max: 255, help: 'Availability zone of new servers and volumes.' }),
  external_network_id: text({
    max: 255,
    help: 'ID of the external network, which provides floating IPs and gateways.',
  }),
  latitude: degrees(90),
  longitude: degrees(180),
  access_url: url({ max: 255, help: 'URL of the OpenStack dashboard, shown to users of private clouds.' }),
  dns_nameservers: refine(
    text({ max: 255, help: 'Name servers of new subnets: IP addresses, separated by commas.' }),
    (input) => {
      if (!addressList(input).every(isAddress)) throw new FieldError(['Enter a list of IP addresses.']);
    },
  ),
  flavor_exclude_regex: pattern('Regular expression; flavors with matching names are ignored.'),
  create_ha_routers: boolean({ help: 'Create highly available routers.' }),
};

/** Name of the administrator's project, reserved for it. */
export const administrationProject = (values: Readonly<Record<string, unknown>>): string =>
  String(values.tenant_name ?? 'admin');

/** Default domain of users and projects. */
export const defaultDomain = 'Default';
