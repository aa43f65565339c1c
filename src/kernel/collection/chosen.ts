import type { Request } from '../access/request.ts';

/** The existing names among these that `field=` selects (core.md 1.9); undefined if it selects none. */
export function chosenNames(request: Request, names: readonly string[]): readonly string[] | undefined {
  const { incoming, query } = request;
  if (query.text === '' || (incoming.method !== 'GET' && incoming.method !== 'HEAD')) return undefined;
  const requested = [...query.all('field'), ...query.all('fields')];
  if (requested.length === 0) return undefined;
  const chosen = names.filter((name) => requested.includes(name));
  return chosen.length > 0 ? chosen : undefined;
}

/**
 * Objects with the members alone that `field=` asks for, where they are not made by a listing. Without `names`, the members
 * that any of the objects has are known.
 */
export function withChosen<T extends object>(
  request: Request,
  objects: readonly T[],
  names: readonly string[] = [...new Set(objects.flatMap((object) => Object.keys(object)))],
): readonly Partial<T>[] {
  const chosen = chosenNames(request, names);
  return chosen ? objects.map((object) => pick(object, chosen)) : objects;
}

/** The same for JSON texts. */
export const textsWithChosen = (request: Request, texts: readonly string[]): readonly string[] =>
  request.query.all('field').length + request.query.all('fields').length === 0
    ? texts
    : withChosen(
        request,
        texts.map((text) => JSON.parse(text)),
      ).map((object) => JSON.stringify(object));

/**
 * Cached JSON of objects of several kinds, with only the members that `field=` selects: a kind without any of them shows none,
 * not all of its members. `names` are those of all kinds; `represent` makes the texts as the request that it is given asks.
 */
export function textsOfKinds(
  request: Request,
  names: () => readonly string[],
  represent: (request: Request) => readonly string[],
): readonly string[] {
  const { query } = request;
  const chosen = query.text === '' ? undefined : chosenNames(request, names());
  return chosen === undefined
    ? represent(request)
    : represent(request.withQuery(query.without('field', 'fields'))).map((text) =>
        JSON.stringify(pick(JSON.parse(text), chosen)),
      );
}

const pick = <T extends object>(object: T, names: readonly string[]): Partial<T> => {
  const picked: Partial<T> = {};
  for (const name in object) if (names.includes(name)) picked[name] = object[name];
  return picked;
};
