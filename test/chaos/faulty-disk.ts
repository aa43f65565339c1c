/** The disk of a process made to fail, by a library that is loaded before all others (faults.c). */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What can be made to fail, in the order in which the library has the numbers; `folder` is the sync of one, `file` that of a database, not of its log. */
const faults = ['sync', 'room', 'write', 'folder', 'file'] as const;

/** What all processes share: its size, and where the number of syncs stands, and which of them fail. */
const controlBytes = 4096 * 16 + 64;
const syncsAt = 32;
const chosenAt = 36;

/** Whether this machine can make it: Linux with a C compiler. */
export const canFail = process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0;

/** Whether one of the syncs has come that were chosen to fail, asked by a process whose disk it is. */
export function hasSyncFailed(): boolean {
  const control = readFileSync(process.env.FAULTS_CONTROL ?? '');
  return control.readInt32LE(chosenAt + 4) > 0 && control.readInt32LE(syncsAt) > control.readInt32LE(chosenAt);
}

/** A folder whose disk can be made to fail, in a temporary one. */
export class FaultyDisk {
  readonly #root = mkdtempSync(join(tmpdir(), 'tenantry-faults-'));
  readonly folder = join(this.#root, 'data');
  /** What was done to the files, in the order in which it was done. */
  readonly trace = join(this.#root, 'trace');
  readonly #control = join(this.#root, 'control');
  readonly #library = join(this.#root, 'faults.so');

  constructor() {
    const source = fileURLToPath(new URL('faults.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', this.#library, source, '-ldl', '-lpthread']);
    this.reset();
  }

  /** Forgets what was done: to be called while no process works on it. */
  reset(): void {
    rmSync(this.folder, { recursive: true, force: true });
    writeFileSync(this.#control, Buffer.alloc(controlBytes));
    writeFileSync(this.trace, '');
  }

  /** What the environment of a process must have whose disk it is. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAULTS_FOLDER: this.folder,
      FAULTS_TRACE: this.trace,
      FAULTS_CONTROL: this.#control,
    };
  }

  /** From now on a kind of call fails, always or once in so many calls, or does again what it should. */
  set(fault: (typeof faults)[number], fails: boolean | number): void {
    this.#write(4 * faults.indexOf(fault), [Number(fails)]);
  }

  /** Of the syncs, counted from 0, so many fail, from this one on. */
  failSyncs(first: number, count: number): void {
    this.#write(chosenAt, [first, count]);
  }

  /** How many syncs there were so far. */
  get syncs(): number {
    return readFileSync(this.#control).readInt32LE(syncsAt);
  }

  #write(at: number, numbers: readonly number[]): void {
    const descriptor = openSync(this.#control, 'r+');
    writeSync(descriptor, Buffer.from(Int32Array.from(numbers).buffer), 0, 4 * numbers.length, at);
    closeSync(descriptor);
  }

  /** Length of the trace: what was on the disk at this moment is in its part before. */
  get position(): number {
    return statSync(this.trace).size;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }
}
