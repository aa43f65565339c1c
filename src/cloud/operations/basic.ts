/** The header of Basic authentication (RFC 7617). */
export const basicAuthorization = (username: string, password: string): Readonly<Record<string, string>> => ({
  Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});
