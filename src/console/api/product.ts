/** The name of the product. */
export const productName = document.querySelector('meta[name=application-name]')?.getAttribute('content') ?? '';
