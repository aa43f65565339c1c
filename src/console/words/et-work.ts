import type { Words } from './lookup.ts';

/** Notifications, teams, provider accounts and what else people work with by day. */
export const dailyWork: Words = {
  Notifications: 'Teavitused',
  'Web hooks': 'Veebiteavitused',
  'Push notifications': 'Tõuketeavitused',
  'Email notifications': 'E-posti teavitused',
  'Tell a web address': 'Teavita veebiaadressi',
  'Tell by email': 'Teavita e-postiga',
  'Tell a telephone': 'Teavita telefoni',
  'Nothing was delivered yet. Test shows whether anybody answers.':
    'Midagi pole veel saadetud. Proovi näitab, kas keegi vastab.',
  'This notification is switched off.': 'See teavitus on välja lülitatud.',
  '{title}: refused.': '{title}: keelduti.',
  'The secret': 'Salajane võti',
  'Keep it now: it is not shown again.': 'Pane see kohe tallele: rohkem seda ei näidata.',
  'Team of {name}': 'Meeskond: {name}',
  'Roles in the customer': 'Rollid kliendi juures',
  'Ended roles in the customer': 'Lõppenud rollid kliendi juures',
  'without an end': 'lõputähtajata',
  'Change the end': 'Muuda lõppu',
  'End the role': 'Lõpeta roll',
  'from {start} to {end}': '{start} kuni {end}',
  Copy: 'Kopeeri',
  'I have it': 'Mul on see olemas',
};
