import type { Declaration, Parameters } from './parameters.ts';
import type { Setup } from './setup.ts';

export interface ActionCall {
  readonly parameters: Parameters;
  readonly region: string;
  readonly contents: Setup;
  /** Maximum number of objects per page. */
  readonly largestPage: number;
}

/** An action of EC2: its parameters, whether it changes objects, and its response. Throws a Rejection. */
export interface Action {
  readonly declaration: Declaration;
  readonly writes?: boolean;
  readonly run: (call: ActionCall) => object;
}
