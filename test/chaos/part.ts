/** What every part of `npm run chaos` is given, and what it answers. */
export interface Given {
  /** Words that start the program. */
  readonly program: readonly string[];
  /** How often a process is killed, or a fault is made. */
  readonly rounds: number;
  /** How often the power goes. */
  readonly cuts: number;
  /** Rounds in which the clock jumps. */
  readonly jumps: number;
  /** Minutes for which a database is copied while it is written to. */
  readonly minutes: number;
  /** So many requests are made from the OpenAPI document. */
  readonly requests: number;
  /** Of what is random in them. */
  readonly seed: string;
  /** Says how far it is. */
  readonly report: (text: string) => void;
}

/** Does something to the program, and answers figures. Throws with a sentence when something is not as it must be. */
export type Part = (input: Given) => Promise<object>;
