/** A rejection by EC2: its code and its message. */
export class Rejection extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}
