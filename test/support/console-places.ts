/** Pages of every kind: handwritten ones, and those generated from the OpenAPI document. */
import type { Json } from './fixture.ts';

type Ask = (path: string) => Promise<Json>;

/** A missing page, a missing object, and an unknown order. */
const rejectedPlaces = ['/no-such-page/', `/customers/${'0'.repeat(32)}/`, '/customers/?o=nothing'];

/** Whether requests of this page may fail: jobs disappear when they end. */
export const mayBeRejected = (place: string): boolean =>
  rejectedPlaces.includes(place) || /^\/jobs\/\d+\/$/.test(place);

/** Whether a place is a list or a single page. */
export const isList = (place: string): boolean => /^\/[a-z-]*\/(\?.*)?$/.test(place);

/** Handwritten pages. */
const named = [
  ...['/', '/all/', '/events/', '/events/?feature=projects&from=1500000000&to=4000000000', '/alerts/', '/hooks/'],
  ...['/statistics/', '/statistics/?days=365', '/resources/', '/resources/?category=vms', '/resources/?state=Erred'],
  ...['/operation/', '/new-resource/', '/add-provider/', '/invitation/0123456789abcdef0123456789abcdef/'],
  ...['/customers/?name=nothing-is-called-so', ...rejectedPlaces],
];

/** The part of an object's URL after /api. */
export const placeOf = (url: string): string => url.replace(/^.*?\/api(?=\/)/, '');

/** Returns one page of every kind: lists, the first object in each, the lists below it, and handwritten pages. */
export async function allPlaces(ask: Ask): Promise<readonly string[]> {
  const { paths } = await ask('/docs/?format=openapi');
  const lists = (path: string): boolean =>
    paths[path]?.get?.parameters?.some((parameter: Json) => parameter.$ref?.endsWith('/page')) === true;
  const places: string[] = [...named];
  for (const path of Object.keys(paths)) {
    const [, list] = /^\/api\/([a-z0-9-]+)\/$/.exec(path) ?? [];
    if (list === undefined || !lists(path)) continue;
    places.push(`/${list}/`);
    const detail = `${path}{key}/`;
    const [first] = paths[detail] ? await ask(`${path}?page_size=1`) : [];
    if (first?.url === undefined) continue;
    const place = placeOf(first.url);
    places.push(place);
    for (const below of Object.keys(paths))
      if (below.startsWith(detail) && /^[a-z_]+\/$/.test(below.slice(detail.length)) && lists(below))
        places.push(place + below.slice(detail.length));
    if (['customers', 'projects'].includes(list)) places.push(`${place}team/`);
  }
  for (const [type, { resources }] of Object.entries<Json>(await ask('/api/service-metadata/'))) {
    places.push(`/add-provider/${type}/`);
    for (const link of Object.values<string>(resources)) places.push(`/new-resource${placeOf(link)}`);
  }
  return [...new Set(places)];
}
