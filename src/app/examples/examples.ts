import { type Arguments, UsageError } from '../command-line.ts';
import { dockerfile } from './docker.ts';
import { grafanaDashboard } from './grafana.ts';
import { litestreamConfig } from './litestream.ts';
import { prometheusAlerts, prometheusScrape } from './prometheus.ts';
import { caddySite, nginxServer } from './proxies.ts';
import { type Setup, setupOf } from './setup.ts';
import { systemdUnit } from './systemd.ts';

/** Files for the programs around a server, by the word that asks for one. */
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

/** The words that ask for one. */
export const exampleNames = Object.keys(examples);

/** `tenantry example`: prints a file, filled with the settings in force. Throws UsageError for a word that asks for none. */
export function printExample({ config, words }: Arguments): void {
  const [name = ''] = words;
  const write = Object.hasOwn(examples, name) ? examples[name] : undefined;
  if (!write) throw new UsageError(`there is no example ${name}; known: ${exampleNames.join(', ')}`);
  process.stdout.write(write(setupOf(config, process.argv[1] ?? '')));
}
