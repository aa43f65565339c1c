/** A disk that fails for a process, simulated by a preloaded library (faults.c). */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The faults, in the order of the numbers in the library; `folder` is the sync of a folder, `file` that of a database without its WAL. */
const faults = ['sync', 'space', 'write', 'folder', 'file'] as const;

/** The memory shared by all processes: its size, and where the numbers in it are (faults.c). */
const controlBytes = 4096 * 16 + 64;
const syncsAt = 32;
const chosenAt = 36;
const nextAt = 44;

/** Whether this machine supports it. Needs Linux with a C compiler. */
export const canFail = process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0;

/** Whether a sync that was set to fail has occurred. Processes on the disk use it. */
export function hasSyncFailed(): boolean {
  const control = readFileSync(process.env.FAULTS_CONTROL ?? '');
  return control.readInt32LE(chosenAt + 4) > 0 && control.readInt32LE(syncsAt) > control.readInt32LE(chosenAt);
}

/** A folder on a failing disk, in a temporary folder. */
export class FaultyDisk {
  readonly #root = mkdtempSync(join(tmpdir(), 'tenantry-faults-'));
  readonly folder = join(this.#root, 'data');
  /** The trace of operations on the files, in order. */
  readonly trace = join(this.#root, 'trace');
  readonly #control = join(this.#root, 'control');
  readonly #library = join(this.#root, 'faults.so');

  constructor() {
    const source = fileURLToPath(new URL('faults.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', this.#library, source, '-ldl', '-lpthread']);
    this.reset();
  }

  /** Clears the trace, while no process works on the folder. */
  reset(): void {
    rmSync(this.folder, { recursive: true, force: true });
    writeFileSync(this.#control, Buffer.alloc(controlBytes));
    writeFileSync(this.trace, '');
  }

  /** The environment of processes on this disk. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAULTS_FOLDER: this.folder,
      FAULTS_TRACE: this.trace,
      FAULTS_CONTROL: this.#control,
    };
  }

  /** Makes a kind of call fail from now on, always or once per number of calls, or succeed again. */
  set(fault: (typeof faults)[number], fails: boolean | number): void {
    this.#write(4 * faults.indexOf(fault), [Number(fails)]);
  }

  /** Makes this many syncs fail, starting with this one, counted from 0. */
  failSyncs(first: number, count: number): void {
    this.#write(chosenAt, [first, count]);
  }

  /** Makes the next sync fail: one by its number may pass while it is chosen, because the server syncs by itself, too. */
  failNextSync(): void {
    this.#write(nextAt, [1]);
  }

  /** The number of syncs. */
  get syncs(): number {
    return readFileSync(this.#control).readInt32LE(syncsAt);
  }

  #write(at: number, numbers: readonly number[]): void {
    const descriptor = openSync(this.#control, 'r+');
    writeSync(descriptor, Buffer.from(Int32Array.from(numbers).buffer), 0, 4 * numbers.length, at);
    closeSync(descriptor);
  }

  /** Returns the length of the trace. The operations before it have reached the disk at this moment. */
  get position(): number {
    return statSync(this.trace).size;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }
}
