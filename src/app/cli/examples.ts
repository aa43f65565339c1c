import { present } from '../../kernel/present.ts';
import { dockerfile } from '../examples/docker.ts';
import { grafanaDashboard } from '../examples/grafana.ts';
import { litestreamConfig } from '../examples/litestream.ts';
import { prometheusAlerts, prometheusScrape } from '../examples/prometheus.ts';
import { caddySite, nginxServer } from '../examples/proxies.ts';
import { type Setup, setupOf } from '../examples/setup.ts';
import { systemdUnit } from '../examples/systemd.ts';
import type { Arguments } from './command-line.ts';

/** Generators of configuration files for other programs, by name. */
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

/** `tenantry example`: prints a configuration file with the current settings. */
export function printExample({ config, words }: Arguments): void {
  const [name = ''] = words;
  process.stdout.write(present(examples[name])(setupOf(config, process.argv[1] ?? '')));
}
