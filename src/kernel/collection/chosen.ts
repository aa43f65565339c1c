import type { Request } from '../access/request.ts';

/** The names among these that `field=` asks for (core.md 1.9); undefined where it asks for nothing that is there. */
export function chosenNames(request: Request, names: readonly string[]): readonly string[] | undefined {
  const { incoming, query } = request;
  if (query.text === '' || (incoming.method !== 'GET' && incoming.method !== 'HEAD')) return undefined;
  const asked = [...query.all('field'), ...query.all('fields')];
  if (asked.length === 0) return undefined;
  const chosen = names.filter((name) => asked.includes(name));
  return chosen.length > 0 ? chosen : undefined;
}

/** Objects with the members alone that `field=` asks for, where they are not made by a listing; known is what any of them has. */
export function withChosen<T extends object>(request: Request, objects: readonly T[]): readonly Partial<T>[] {
  const chosen = chosenNames(request, [...new Set(objects.flatMap((object) => Object.keys(object)))]);
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

const pick = <T extends object>(object: T, names: readonly string[]): Partial<T> => {
  const picked: Partial<T> = {};
  for (const name in object) if (names.includes(name)) picked[name] = object[name];
  return picked;
};
