import type { DriverCall, PlainValues } from '../../../catalogue/driver.ts';
import { ifExists, ProviderError } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { Cloud, ProjectCloud } from '../api/cloud.ts';

/** The cloud and tenant of an operation. */
export interface OperationTarget {
  readonly cloud: Cloud;
  /** The services of the tenant that the object belongs to; not usable for tenants themselves. */
  readonly own: ProjectCloud;
  /** Of the settings. */
  readonly options: PlainValues;
}

/** The flows of the operations on one kind. */
export interface KindFlows {
  create(target: OperationTarget, flow: Flow): Promise<RowUpdates>;
  /** Sends a changed name and description to the vendor. */
  update(target: OperationTarget, call: DriverCall): Promise<unknown>;
  delete(target: OperationTarget, flow: Flow): Promise<RowUpdates>;
  readonly actions: Readonly<Record<string, (target: OperationTarget, flow: Flow) => Promise<RowUpdates>>>;
  pull(target: OperationTarget, call: DriverCall): Promise<PlainValues>;
}

/** The vendor's id of a call's object. */
export const idOf = ({ values }: DriverCall): string => String(values.backend_id);

/** Name and description to send to the vendor. */
export const namingOf = ({ values }: DriverCall) => ({
  name: String(values.name),
  description: String(values.description ?? ''),
});

/** The result of a deletion; undefined if the object is missing or still in use. */
export async function unlessBusy<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await ifExists(response);
  } catch (error) {
    if (error instanceof ProviderError && error.type === 'conflict') return undefined;
    throw error;
  }
}

/** Deletes an object and waits until it is gone; `state` returns its status, or undefined if it is missing. */
export async function deleteAndWait(
  flow: Flow,
  stage: string,
  { remove, state }: { remove: () => Promise<unknown>; state: () => Promise<string | undefined> },
): Promise<void> {
  await flow.ensure(`${stage} ordered`, async () => {
    const status = await state();
    if (status !== undefined && status !== 'deleting') await ifExists(remove());
  });
  await flow.until(`${stage} gone`, async () => {
    const status = await state();
    if (status === undefined) return 'done';
    if (status.startsWith('error')) flow.fail(`Backend could not delete it: status ${status}`);
    return {};
  });
}
