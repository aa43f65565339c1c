import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../support/fixture.ts';

const scripts = fileURLToPath(new URL('..', import.meta.url));

/** The output of `up` about the cloud that it started. */
interface Facts {
  readonly auth_url: string;
  readonly region: string;
  readonly domain: string;
  readonly username: string;
  readonly password: string;
  readonly project: string;
  readonly external_network_id: string;
  readonly command_line: string;
}

/** Runs a program to its end; returns its output. Rejects when it fails. */
async function output(
  program: string,
  words: readonly string[],
  { env = {}, input = '' }: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
): Promise<string> {
  const child = spawn(program, words, { env: { ...process.env, ...env } });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk: Buffer) => (texts[stream] += chunk.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${words.join(' ')}: ${texts.stderr.trim() || texts.stdout.trim()}`);
  return texts.stdout;
}

/** The client's lists of all kinds of objects that a life cycle could leave behind. */
const lists = [
  'project list',
  'user list',
  'network list',
  'subnet list',
  'router list',
  'port list',
  'floating ip list',
  'security group list',
  'volume list --all-projects',
  'volume snapshot list --all-projects',
  'server list --all-projects',
  'keypair list',
  'image list',
  'flavor list --all',
] as const;

/** An OpenStack on this machine, with its client. */
export class RealCloud {
  private constructor(
    readonly facts: Facts,
    /** Stops the cloud unless it was already running. */
    readonly end: () => Promise<void>,
  ) {}

  /** Starts a cloud in a temporary folder. */
  static async start(): Promise<RealCloud> {
    const directory = mkdtempSync(join(tmpdir(), 'openstack-'));
    const end = async (): Promise<void> => {
      await output(join(scripts, 'down'), [directory]);
      rmSync(directory, { recursive: true });
    };
    const printed = await output(join(scripts, 'up'), [directory]).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    return new RealCloud(JSON.parse(printed) as Facts, end);
  }

  /** Uses a running cloud. */
  static running(directory: string): RealCloud {
    const facts = JSON.parse(readFileSync(join(directory, 'facts.json'), 'utf8')) as Facts;
    return new RealCloud(facts, async () => undefined);
  }

  /**
   * Returns the parsed output of a client command; undefined if it is empty. `as` is a user of a project, by default the
   * administrator.
   */
  async client(
    command: string,
    as?: { readonly name: string; readonly password: string; readonly project: string },
  ): Promise<Json> {
    const { auth_url, command_line: program, domain, region } = this.facts;
    const env = as && {
      OS_AUTH_URL: auth_url,
      OS_IDENTITY_API_VERSION: '3',
      OS_REGION_NAME: region,
      OS_USERNAME: as.name,
      OS_PASSWORD: as.password,
      OS_PROJECT_NAME: as.project,
      OS_USER_DOMAIN_NAME: domain,
      OS_PROJECT_DOMAIN_NAME: domain,
    };
    const printed = await output(program, command.split(' '), { ...(env && { env }) });
    return printed.trim() === '' ? undefined : JSON.parse(printed);
  }

  /** Returns all objects by list, one line per object. */
  async everything(): Promise<Readonly<Record<string, readonly string[]>>> {
    const commands = lists.map((list) => `${list} -f value -c ID -c Name`.replace(/(?<=keypair.*) -c ID/, ''));
    const separator = 'project show -f value -c id admin';
    const project = (await output(this.facts.command_line, separator.split(' '))).trim();
    const printed = await output(this.facts.command_line, [], {
      input: commands.flatMap((one) => [one, separator]).join('\n'),
    });
    const parts = printed.split(`${project}\n`);
    return Object.fromEntries(lists.map((list, i) => [list, (parts[i] ?? '').split('\n').filter(Boolean).sort()]));
  }
}
