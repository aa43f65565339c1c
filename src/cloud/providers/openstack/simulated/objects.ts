import * as v from 'valibot';
import type { PlainValues } from '../../../catalogue/driver.ts';
import type { OtherObject, ValueGenerator } from '../../../catalogue/simulation.ts';

/** Reads a list from values or parameters; empty if absent. The simulation itself stored it with items of this type. */
export const asList = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? value : []);

const valuesSchema = v.optional(v.record(v.string(), v.unknown()));

/** Reads an object from values or parameters; undefined if absent. Throws if it is not an object. */
export const asValues = (value: unknown): PlainValues | undefined => v.parse(valuesSchema, value);

/** An id in OpenStack's format: a dashed uuid, version 4. */
export function dashedUuid({ hex }: Pick<ValueGenerator, 'hex'>): string {
  const digits = hex(32);
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 3) | 8).toString(16);
  const uuid = `${digits.slice(0, 12)}4${digits.slice(13, 16)}${variant}${digits.slice(17)}`;
  return [uuid.slice(0, 8), uuid.slice(8, 12), uuid.slice(12, 16), uuid.slice(16, 20), uuid.slice(20)].join('-');
}

/** Objects that are attached to an instance. */
export const attachedTo = (objects: readonly OtherObject[], instance: unknown): readonly OtherObject[] =>
  objects.filter(({ values }) => values.instance_backend_id === instance);

/** Objects of a tenant. */
export const inTenant = (objects: readonly OtherObject[], tenant: unknown): readonly OtherObject[] =>
  objects.filter(({ values }) => values.tenant_backend_id === tenant);

/** Values of a volume after it was detached from its instance, and of a floating IP. */
export const detachedVolume = { instance_backend_id: '', device: '', runtime_state: 'available' };
export const detachedAddress = { instance_backend_id: '', subnet: null, runtime_state: 'DOWN' };
