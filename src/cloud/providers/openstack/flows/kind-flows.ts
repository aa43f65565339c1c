import type { DriverCall, PlainValues } from '../../../catalogue/driver.ts';
import { ifThere, ProviderError } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { Cloud, ProjectCloud } from '../api/cloud.ts';

/** Where an operation takes place. */
export interface Place {
  readonly cloud: Cloud;
  /** The services for the tenant that the object belongs to; of no use for a tenant itself. */
  readonly own: ProjectCloud;
  /** Of the settings. */
  readonly options: PlainValues;
}

/** What operations on objects of one kind consist of. */
export interface KindFlows {
  create(place: Place, flow: Flow): Promise<RowUpdates>;
  /** Tells the vendor a changed name and description. */
  update(place: Place, call: DriverCall): Promise<unknown>;
  delete(place: Place, flow: Flow): Promise<RowUpdates>;
  readonly actions: Readonly<Record<string, (place: Place, flow: Flow) => Promise<RowUpdates>>>;
  pull(place: Place, call: DriverCall): Promise<PlainValues>;
}

/** The vendor's id of the object of a call. */
export const idOf = ({ values }: DriverCall): string => String(values.backend_id);

/** Name and description of the object of a call, as the vendor is told of them. */
export const namingOf = ({ values }: DriverCall) => ({
  name: String(values.name),
  description: String(values.description ?? ''),
});

/** What a deletion of something that others are leaving answers: undefined also while they are there yet. */
export async function unlessBusy<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await ifThere(response);
  } catch (error) {
    if (error instanceof ProviderError && error.type === 'conflict') return undefined;
    throw error;
  }
}

/** Deletes something and waits until it is gone; `state` answers its status, or undefined when there is no such object. */
export async function deleteAndWait(
  flow: Flow,
  stage: string,
  { remove, state }: { remove: () => Promise<unknown>; state: () => Promise<string | undefined> },
): Promise<void> {
  await flow.ensure(`${stage} ordered`, async () => {
    const status = await state();
    if (status !== undefined && status !== 'deleting') await ifThere(remove());
  });
  await flow.until(`${stage} gone`, async () => {
    const status = await state();
    if (status === undefined) return 'over';
    if (status.startsWith('error')) flow.fail(`Backend could not delete it: status ${status}`);
    return {};
  });
}
