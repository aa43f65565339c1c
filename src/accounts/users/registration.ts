/** The registration_method of users whom single sign-on made. */
export const samlRegistration = 'saml2';
