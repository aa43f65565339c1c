import type { Declaration, Parameters } from './parameters.ts';
import type { Setup } from './setup.ts';

export interface ActionCall {
  readonly parameters: Parameters;
  readonly region: string;
  readonly contents: Setup;
  /** Objects of a page at most. */
  readonly largestPage: number;
}

/** An action of EC2: what it takes, whether it changes something, and the members of its response. Throws a Rejection. */
export interface Action {
  readonly takes: Declaration;
  readonly writes?: boolean;
  readonly run: (call: ActionCall) => object;
}
