/** Prepared texts with `@caller`: a user, or an API key that is bound to objects (core.md 2.10). */

/** Follows the name of a view with the roles of `@caller`. */
export const ofCaller = ' /* of @caller */';

/** Returns a text that reads the roles of bound API keys instead of users. */
const boundTextOf = (text: string): string => text.replaceAll(/\bactive_(\w+_role) \/\* of @caller \*\//g, 'bound_$1');

/** The texts for bound API keys by those for users. The program has a fixed number of them. */
export class BoundTexts {
  readonly #texts = new Map<string, string>();

  get(text: string): string {
    let bound = this.#texts.get(text);
    if (bound === undefined) {
      bound = boundTextOf(text);
      this.#texts.set(text, bound);
    }
    return bound;
  }
}
