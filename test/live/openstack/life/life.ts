import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { Program } from '../../../support/program.ts';
import { Caller } from '../../caller.ts';
import type { Steps } from '../../steps.ts';
import { RealCloud } from './cloud.ts';
import { importForeign, pullChanges, removeForeign, restoreByImport } from './foreign.ts';
import { changeInstance, failInstance, makeInstance, makeKey, removeInstance, removeKey } from './instances.ts';
import { killDuringOperations } from './kill.ts';
import { rejectBeyondLimits } from './limits.ts';
import { makeConnections, removeConnections } from './network.ts';
import { connect } from './settings.ts';
import { attachVolume, endDatedSnapshot, makeVolume } from './storage.ts';
import { makeTenant, removeTenant } from './tenant.ts';

/** The context of all parts of the life cycle. */
export interface Life {
  readonly steps: Steps;
  readonly cloud: RealCloud;
  readonly staff: Caller;
  /** A part of the names of projects and users, which must be unique in a cloud. */
  readonly tag: string;
  /** Kills Tenantry with SIGKILL and starts it again at the same address. */
  readonly kill: () => Promise<void>;
}

/** An account at the cloud, and its link to a project. */
export interface Account {
  readonly settings: Json;
  readonly link: Json;
}

/** The whole life cycle at an OpenStack: a running one in a directory, or one started here. */
export async function openStack(steps: Steps, directory?: string): Promise<void> {
  const cloud = directory
    ? RealCloud.running(directory)
    : await steps.step('start of the cloud', () => RealCloud.start());
  const native = mkdtempSync(join(tmpdir(), 'tenantry-native-'));
  const program = new Program(native);
  const endAll = async (): Promise<void> => {
    await program.end();
    rmSync(native, { recursive: true });
    await cloud.end();
  };
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= endAll();
    return ended;
  };
  // An interrupted run must not leave a process running either.
  const interrupted = (signal: NodeJS.Signals): void => void end().finally(() => process.kill(process.pid, signal));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
  try {
    await program.run(['user', 'add', 'admin', '--staff', '--data', 'data']);
    const token = (await program.run(['token', 'admin', '--data', 'data'])).stdout.trim();
    const words = ['--provider-allowed-networks', '127.0.0.0/8'];
    let server = await program.serve(words);
    const { url } = server;
    let output = '';
    const kill = async (): Promise<void> => {
      await server.kill();
      output += server.errors();
      server = await program.serve([...words, '--port', new URL(url).port]);
    };
    await run({ steps, cloud, staff: new Caller(url, token), tag: randomBytes(3).toString('hex'), kill });
    await steps.step('the log has no warnings', async () => assert.is(output + server.errors(), ''));
    await server.stop();
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted);
    await steps.step('end of the cloud', end);
  }
}

async function run(life: Life): Promise<void> {
  const { cloud, steps } = life;
  const before = await steps.step("the cloud's own lists before", () => cloud.everything());
  const account = await connect(life);
  const tenant = await makeTenant(life, account);
  const connections = await makeConnections(life, tenant);
  const volume = await makeVolume(life, account, tenant);
  const key = await makeKey(life);
  const instance = await makeInstance(life, account, tenant, key);
  await attachVolume(life, volume, instance);
  await changeInstance(life, instance, connections);
  await rejectBeyondLimits(life, tenant, { group: connections.group, instance, volume });
  await failInstance(life, account, tenant);
  await restoreByImport(life, account, instance);
  await removeInstance(life, await life.staff.only('/api/openstack-instances/?name_exact=web-1'), false);
  await removeInstance(life, await makeInstance(life, account, tenant, key), true);
  const foreign = await importForeign(life, account);
  await pullChanges(life, account, tenant);
  await removeForeign(life, foreign);
  await killDuringOperations(life, account);
  await endDatedSnapshot(life);
  await steps.step('volume delete', () => life.staff.remove(volume));
  await removeConnections(life, connections);
  await removeTenant(life, tenant);
  await steps.step('key pair at the cloud goes with the key', () => removeKey(life, key));
  await steps.step('nothing is left over at the cloud', async () => assert.equal(await cloud.everything(), before));
}
