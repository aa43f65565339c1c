import type { Row } from '../../kernel/collection/collection.ts';
import { type Json, wordValue } from '../../kernel/collection/representation.ts';

/** A row of any kind of resource. */
export interface ResourceRow extends Row {
  readonly kind: string;
  readonly is_part: number;
  readonly link_id: number;
  readonly service_id: number;
  readonly settings_id: number;
  readonly project_id: number;
  readonly customer_id: number;
  readonly parent_id: number | null;
  readonly instance_id: number | null;
  readonly name: string;
  readonly description: string;
  /** Name and description at the provider, as last reported. */
  readonly backend_name: string;
  readonly backend_description: string;
  readonly state: State;
  readonly runtime_state: string;
  readonly error_message: string;
  readonly backend_id: string;
  readonly action: string;
  readonly start_time: number | null;
  readonly cores: number;
  readonly ram: number;
  readonly disk: number;
  readonly size: number;
  /** JSON */
  readonly details: string;
  readonly secrets: Uint8Array | null;
  readonly revision: number;
}

/** States of a resource (services.md 8.1). */
export const resourceStates = [
  'Creation Scheduled',
  'Creating',
  'Update Scheduled',
  'Updating',
  'Deletion Scheduled',
  'Deleting',
  'OK',
  'Erred',
] as const;

export type State = (typeof resourceStates)[number];

/** The state of a resource, or of an object with the states of one, in a column. */
export const stateValue = (column: string): Json => wordValue(column, resourceStates);
