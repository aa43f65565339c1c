import { minute, second } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, networks } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof providerSettings> {}
}

/** The settings of providers and their jobs. */
export const providerSettings = {
  only_staff_manages_services: flag(false, 'Whether only staff may write settings, services and links.'),
  manager_can_manage_tenants: flag(
    false,
    'Whether project managers and administrators may delete private clouds on shared settings.',
  ),
  tenant_credentials_visible: flag(
    false,
    'Whether users who may change a private cloud can read its user and password.',
  ),
  simulator_enabled: flag(
    true,
    'Whether settings without a backend_url are simulated; otherwise they belong to the public vendor.',
  ),
  provider_allowed_networks: networks(
    'Local and private networks that providers may be in. Default: none; accounts last written by staff may also use private ones.',
  ),
  settings_sync_interval: duration<number>(30 * minute, 'Interval between two syncs with a provider.'),
  job_tick: duration<number>(second, 'Interval of the worker that runs provider operations.'),
  job_delay: duration<number>(second, 'Delay between a request and the provider operation that it causes.'),
} satisfies Settings;
