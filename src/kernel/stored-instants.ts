/**
 * Stored instants that a rule compares with the current time. The module of the rule declares them, so that they are corrected when
 * the machine's clock has jumped (core.md 13).
 */
export interface StoredInstants {
  readonly table: string;
  readonly column: string;
  /** The maximum distance into the future, in microseconds; 0: they record past events. */
  readonly ahead: number;
  /** Something happens at that instant by itself. */
  readonly isDue?: true;
  /** SQL condition for the rows; default: all. */
  readonly where?: string;
  /** Time is counted from them while the service runs: they move along with a clock that jumps forward. */
  readonly countsRunning?: true;
}
