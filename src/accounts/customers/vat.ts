/** Formats of VAT numbers after the country prefix, by country (core.md 6.2). */
const formats: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    AT: 'U\\d{8}',
    'BE BG': '\\d{9,10}',
    CY: '\\d{8}[A-Z]',
    CZ: '\\d{8,10}',
    'DE EE GR PT': '\\d{9}',
    'DK FI HU LU MT SI': '\\d{8}',
    ES: '[A-Z0-9]\\d{7}[A-Z0-9]',
    FR: '[A-HJ-NP-Z0-9]{2}\\d{9}',
    'HR IT LV': '\\d{11}',
    IE: '\\d{7}[A-Z]|\\d[A-Z]\\d{5}[A-Z]|\\d{6,7}[A-Z]{2}',
    LT: '\\d{9}|\\d{12}',
    NL: '\\d{9}B\\d{2}',
    'PL SK': '\\d{10}',
    RO: '\\d{2,10}',
    SE: '\\d{12}',
  }).flatMap(([codes, format]) =>
    codes.split(' ').map((code): [string, RegExp] => [code, new RegExp(`^(?:${format})$`)]),
  ),
);
/** The format for other countries. */
const generalFormat = /^[A-Z0-9]{2,15}$/;

/** Returns an error message for an invalid VAT number of a customer. An empty number is valid. */
export function vatProblem(customer: { vat_code: string; country: string; is_company: boolean }): string | undefined {
  if (customer.vat_code === '') return undefined;
  if (!customer.is_company) return 'VAT number is not supported for private persons.';
  const number = customer.vat_code.replace(/[\s-]/g, '').toUpperCase();
  const start = /^[A-Z]{2}/.exec(number)?.[0] ?? '';
  const country = customer.country || (start === 'EL' ? 'GR' : start);
  const prefixed = start !== '' && (start === country || (country === 'GR' && start === 'EL'));
  const format = formats.get(country) ?? generalFormat;
  return format.test(prefixed ? number.slice(2) : number) ? undefined : 'VAT number has invalid format.';
}
