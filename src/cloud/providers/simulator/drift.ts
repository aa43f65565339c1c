/** Changes at the simulated provider that the server notices only at the next synchronisation (providers.md 3.2). */
import type { App } from '../../../kernel/app.ts';
import type { DriverSettings } from '../../catalogue/driver.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { SimulatedBackend } from './backend.ts';
import { Objects } from './objects.ts';

export const drifts = ['rename', 'vanish'] as const;

/** Removes or renames an object. Returns false if it does not exist. Must run in a write transaction. */
export function drift(
  app: App,
  type: ProviderType,
  settings: DriverSettings,
  {
    backendId,
    change,
    kind,
  }: { readonly kind: string; readonly backendId: string; readonly change: (typeof drifts)[number] },
): boolean {
  const backend = new SimulatedBackend(app, settings);
  const object = backend.find(kind, backendId);
  if (!object) return false;
  if (change === 'vanish') new Objects(backend, type).lose(object);
  else backend.change(object, { name: `renamed-${backend.next('renamed')}` });
  return true;
}
