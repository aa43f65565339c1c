/** The options and the results of the parts of `npm run chaos`. */
export interface Given {
  /** The command that starts the program. */
  readonly program: readonly string[];
  /** Number of kills, or of faults. */
  readonly rounds: number;
  /** Number of power cuts. */
  readonly cuts: number;
  /** Rounds with clock jumps. */
  readonly jumps: number;
  /** Minutes of writes to a replicated database. */
  readonly minutes: number;
  /** Number of requests generated from the OpenAPI document. */
  readonly requests: number;
  /** The seed of random requests. */
  readonly seed: string;
  /** Reports progress. */
  readonly report: (text: string) => void;
}

/** Runs against the program; returns figures. Throws a readable error when a check fails. */
export type Part = (options: Given) => Promise<object>;
