import names from './countries.json' with { type: 'json' };

/** The valid country codes (ISO 3166) with English names. A fixed list does not vary with the platform. */
export const countries: readonly (readonly [code: string, name: string])[] = Object.entries(names);

const nameByCode = new Map(countries);

/** Returns the English name of a country; empty for an empty or unknown code. */
export const countryName = (code: string): string => nameByCode.get(code) ?? '';
