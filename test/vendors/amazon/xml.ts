/* Formats responses of EC2 as XML: members are elements, and items of lists are elements named `item`. */

const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign] as string);

function element(name: string, value: unknown): string {
  if (value === undefined) return '';
  const inner = Array.isArray(value)
    ? value.map((item) => element('item', item)).join('')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([member, own]) => element(member, own))
          .join('')
      : escaped(String(value));
  return inner === '' ? `<${name}/>` : `<${name}>${inner}</${name}>`;
}

const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

export const response = (action: string, requestId: string, members: object): string => {
  const inner =
    element('requestId', requestId) +
    Object.entries(members)
      .map(([name, own]) => element(name, own))
      .join('');
  return `${head}<${action}Response xmlns="${namespace}">\n${inner}\n</${action}Response>`;
};

export const rejectionText = (code: string, message: string, requestId: string): string =>
  `${head}<Response><Errors><Error>${element('Code', code)}${element('Message', message)}</Error></Errors>${element('RequestID', requestId)}</Response>`;
