/**
 * Stored instants that a rule compares with the current time. The module of the rule declares them for correction after a clock
 * jump (core.md 13).
 */
export interface StoredInstants {
  readonly table: string;
  readonly column: string;
  /** Maximum distance into the future, in microseconds; 0 if they record past events. */
  readonly ahead: number;
  /** Whether something happens automatically at the instant. */
  readonly isDue?: true;
  /** SQL condition for the rows; default: all. */
  readonly where?: string;
  /** Whether time since the instant is counted while the service runs, so that it moves with a clock that jumps forward. */
  readonly countsRunning?: true;
}
