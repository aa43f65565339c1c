/** A row of a table that is addressed by uuid, or by its id as `pk`. */
export interface Row {
  readonly id: number;
  readonly uuid: string;
}
