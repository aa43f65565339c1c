declare module '../app.ts' {
  interface App {
    readonly reactions: Reactions;
    readonly guards: Guards;
  }
}

/**
 * What rooms announce, so that others can act on it: `context.app.reactions.roleEnded(context, user)`. It is called
 * in the transaction of the change, so that all of it happens or none.
 *
 * Each floor adds what it announces here, beside the code that does so (`declare module`); src/app/reactions.ts alone says
 * what follows. What has no answer there does not compile, nor does an answer to nothing. An interface of each room's own
 * would be as plain, but the type of the deployment would have to be a parameter of every context to join them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: floors above add its members
export interface Reactions {}

/** What rooms ask before a change that others may forbid, declared and composed like reactions. Each throws 409. */
// biome-ignore lint/suspicious/noEmptyInterface: floors above add its members
export interface Guards {}
