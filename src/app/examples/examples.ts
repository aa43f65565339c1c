import { present } from '../../kernel/present.ts';
import type { Arguments } from '../command-line.ts';
import { dockerfile } from './docker.ts';
import { grafanaDashboard } from './grafana.ts';
import { litestreamConfig } from './litestream.ts';
import { prometheusAlerts, prometheusScrape } from './prometheus.ts';
import { caddySite, nginxServer } from './proxies.ts';
import { type Setup, setupOf } from './setup.ts';
import { systemdUnit } from './systemd.ts';

/** Configuration files for other programs, by name. */
const examples: Readonly<Record<string, (setup: Setup) => string>> = {
  systemd: systemdUnit,
  nginx: nginxServer,
  caddy: caddySite,
  docker: dockerfile,
  prometheus: prometheusScrape,
  alerts: prometheusAlerts,
  grafana: grafanaDashboard,
  litestream: litestreamConfig,
};

/** The names of the files. */
export const exampleNames = Object.keys(examples);

/** `tenantry example`: prints one of the files, filled with the settings in force. */
export function printExample({ config, words }: Arguments): void {
  const [name = ''] = words;
  process.stdout.write(present(examples[name])(setupOf(config, process.argv[1] ?? '')));
}
