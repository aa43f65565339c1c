/**
 * Tests that need more than Node.js: real services and vendors' own clients, from Debian packages, and other versions of Node.js.
 *
 *   npm run live                           all parts below
 *   npm run live -- amazon                 one part; several may be named. Needs python3-boto3
 *   npm run live -- digitalocean           … Needs python3-digitalocean
 *   npm run live -- examples               … Needs nginx-light, caddy, prometheus, systemd and python3
 *   npm run live -- gitlab                 … Needs python3-gitlab
 *   npm run live -- jira                   … Needs python3-jira
 *   npm run live -- litestream             … Needs python3 with venv and the registry of Python packages
 *   npm run live -- moto                   … Needs python3 with venv and the registry of Python packages
 *   npm run live -- objects                … Needs python3 with venv, go, and registries of Python and Go packages
 *   npm run live -- postgres               … Needs postgresql
 *   npm run live -- rsyslog                … Needs rsyslog and rsyslog-gnutls
 *   npm run live -- schemathesis           … Needs python3 with venv and the registry of Python packages; makes 20,000 requests
 *   npm run live -- schemathesis --requests 2000  … of about a tenth of the operations, so many requests
 *   npm run live -- webhooks               … Needs python3 with venv, go, and registries of npm, Python and Go packages
 *   npm run live -- package                … Fetches the versions of Node.js, needs a C++ compiler, Linux on x64 with glibc
 *   npm run live -- binary                 … The same, and strip of GNU binutils
 *   npm run live -- openstack              starts a cloud on this machine and ends it; see test/live/openstack/README.md
 *   npm run live -- openstack --cloud DIR  the same with one that test/live/openstack/up has started in DIR
 *
 * Prints one line per step with its seconds, and finally "N passed, N failed"; exits with 1 when any failed.
 */
import { parseArgs } from 'node:util';
import { amazon } from './amazon/part.ts';
import { binary } from './binary/part.ts';
import { digitalOcean } from './digitalocean/part.ts';
import { examples } from './examples/part.ts';
import { gitlab } from './gitlab/part.ts';
import { jira } from './jira/part.ts';
import { litestreamPart } from './litestream/part.ts';
import { moto } from './moto/part.ts';
import { objects } from './objects/part.ts';
import { openStack } from './openstack/life/life.ts';
import { packagePart } from './package/part.ts';
import { postgres } from './postgres/part.ts';
import { rsyslog } from './rsyslog/part.ts';
import { defaultRequests, schemathesis } from './schemathesis/part.ts';
import { Steps } from './steps.ts';
import { webhooks } from './webhooks/part.ts';

interface Options {
  /** The directory of a running cloud. */
  readonly cloud?: string | undefined;
  /** The minimum number of requests of a part. */
  readonly requests: number;
}

/** One line per part. */
const parts: Readonly<Record<string, (steps: Steps, options: Options) => Promise<void>>> = {
  amazon,
  digitalocean: digitalOcean,
  examples,
  gitlab,
  jira,
  litestream: litestreamPart,
  moto,
  objects,
  openstack: (steps, { cloud }) => openStack(steps, cloud),
  postgres,
  rsyslog,
  schemathesis,
  webhooks,
  binary,
  package: packagePart,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { cloud: { type: 'string' }, requests: { type: 'string', default: String(defaultRequests) } },
});
const requests = Number(values.requests);
if (!(requests > 0)) throw new Error('--requests must be a number above 0.');
const steps = new Steps();
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
    const live = parts[name];
    if (live === undefined) throw new Error(`There is no ${name}; known: ${Object.keys(parts).join(', ')}`);
    await live(steps, { cloud: values.cloud, requests });
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
}
process.stdout.write(`${steps.sum}\n`);
if (steps.hasFailed) process.exitCode = 1;
