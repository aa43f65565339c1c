declare module '../app.ts' {
  interface App {
    readonly reactions: Reactions;
    readonly guards: Guards;
  }
}

/**
 * Calls that modules make when something has changed, so that modules above can react: `context.app.reactions.roleEnded(context,
 * user)`. They run in the transaction of the change. A module declares its members beside the code that calls them (`declare
 * module`); src/app/compose/reactions.ts implements all of them, and does not compile when one is missing or left over.
 */
// biome-ignore lint/suspicious/noEmptyInterface: modules above add its members
export interface Reactions {}

/** Checks that modules make before a change that other modules may reject, declared like reactions. Each throws 409. */
// biome-ignore lint/suspicious/noEmptyInterface: modules above add its members
export interface Guards {}
