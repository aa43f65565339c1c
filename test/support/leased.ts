/** Programs that write under a lease in an object store. */
import { join } from 'node:path';
import { ObjectStore } from './object-store.ts';
import { type Ended, nativeCache, Program, type Serving } from './program.ts';

/** An object store, and a program with a lease in it. Time runs five times as fast: the TTL is six seconds. */
export class Leased {
  private constructor(
    readonly store: ObjectStore,
    readonly program: Program,
  ) {}

  static async start(): Promise<Leased> {
    return new Leased(await ObjectStore.start(), new Program(nativeCache));
  }

  get env(): Record<string, string> {
    return { ...this.store.environment, NODE_OPTIONS: `--import ${new URL('fast-lease.mjs', import.meta.url)}` };
  }

  run(words: readonly string[], input?: string): Promise<Ended> {
    return this.program.run([...words, ...this.store.leaseOptions()], { env: this.env, ...(input && { input }) });
  }

  serve(words: readonly string[] = []): Promise<Serving> {
    return this.program.serve([...this.store.leaseOptions(), '--admin-listen', '127.0.0.1:0', ...words], {
      env: this.env,
    });
  }

  path(name: string): string {
    return join(this.program.folder, name);
  }

  /** The lease object. */
  get object(): { readonly epoch: number; readonly holder: string | null; readonly ttl: number } | undefined {
    const content = this.store.objects.get('lease');
    return content && JSON.parse(content.toString());
  }

  async end(): Promise<void> {
    await this.program.end();
    await this.store.close();
  }
}
