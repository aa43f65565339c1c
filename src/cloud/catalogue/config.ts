import { minute, second } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, networks } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof providerSettings> {}
}

/** Settings of providers and their jobs. */
export const providerSettings = {
  only_staff_manages_services: flag(false, 'Only staff write settings, services and links.'),
  manager_can_manage_tenants: flag(
    false,
    'Project managers and administrators may delete private clouds on shared settings.',
  ),
  tenant_credentials_visible: flag(
    false,
    'Shows the user and password of private clouds to those who may change them.',
  ),
  simulator_enabled: flag(true, 'Settings without a backend_url are simulated; off: they are at the public vendor.'),
  provider_allowed_networks: networks('Networks that providers may be called in although they are refused otherwise.'),
  settings_sync_interval: duration<number>(30 * minute, 'Time between two synchronisations with a provider.'),
  job_tick: duration<number>(second, 'Period of the worker that runs provider operations.'),
  job_delay: duration<number>(second, 'Time between a request and the provider operation it caused.'),
} satisfies Settings;
