import type { Place } from './names.ts';

/** A customer of the demonstration world, as staff enter it, and its projects in the order in which they begin. */
export interface OrganisationFacts {
  readonly place: Place;
  readonly fields: {
    readonly name: string;
    readonly native_name?: string;
    readonly abbreviation?: string;
    readonly contact_details: string;
    readonly registration_code?: string;
    readonly country: string;
    readonly vat_code?: string;
    readonly is_company: boolean;
  };
  /** Domain of its email addresses. */
  readonly domain: string;
  /** Country calling code. */
  readonly callingCode: string;
  readonly language?: 'en' | 'et';
  readonly projects: readonly ProjectFacts[];
}

export interface ProjectFacts {
  readonly name: string;
  /** The name under which it began. */
  readonly formerly?: string;
  readonly description: string;
}

/** A line of text as a project: `former name > name: description`. */
function project(line: string): ProjectFacts {
  const [names = '', description = ''] = line.split(': ');
  const [first = '', second] = names.split(' > ');
  return second === undefined ? { name: first, description } : { name: second, formerly: first, description };
}

export const organisations: readonly OrganisationFacts[] = [
  {
    place: 'pohjarannik',
    fields: {
      name: 'Põhjarannik Pilveteenused OÜ',
      abbreviation: 'PPT',
      contact_details: 'Sadama tee 4, 74115 Maardu, Estonia',
      registration_code: '10020030',
      country: 'EE',
      vat_code: 'EE100200305',
      is_company: true,
    },
    domain: 'pohjarannik.example',
    callingCode: '+372',
    language: 'et',
    projects: [
      'Client portal: Where customers order and pay.',
      'Backup pilot > Backup vault: Nightly copies of everything, kept for a year.',
      'Harbour sensors: Water level and wind, every ten seconds.',
      'Payroll: Closed network, few people.',
      'Mail relay: Outgoing mail of all products.',
    ].map(project),
  },
  {
    place: 'nordlicht',
    fields: {
      name: 'Nordlicht Rechenzentrum GmbH',
      abbreviation: 'NLRZ',
      contact_details: 'Am Kai 12, 24103 Kiel, Germany',
      registration_code: 'HRB 12345 KI',
      country: 'DE',
      vat_code: 'DE111222333',
      is_company: true,
    },
    domain: 'nordlicht.example',
    callingCode: '+49',
    projects: [
      'Webshop: Shop and checkout of three brands.',
      'Project X > Climate archive: Forty years of measurements.',
      'Virtual desktops: Workplaces for the Kiel office.',
      'Build farm: Compilers and test machines.',
    ].map(project),
  },
  {
    place: 'baltijas',
    fields: {
      name: 'Baltijas Datu Centrs SIA',
      abbreviation: 'BDC',
      contact_details: 'Ganību dambis 21, Rīga, LV-1005, Latvia',
      registration_code: '40003000123',
      country: 'LV',
      vat_code: 'LV40003000123',
      is_company: true,
    },
    domain: 'baltijas.example',
    callingCode: '+371',
    projects: [
      'Media streaming: Video for two broadcasters.',
      'Tender 14 > Library catalogue: Search over nine libraries.',
      'Monitoring: Watches all the others.',
      'Map tiles: Rendering and cache.',
    ].map(project),
  },
  {
    place: 'helios',
    fields: {
      name: 'Helios Nefos S.A.',
      native_name: 'Ήλιος Νέφος Α.Ε.',
      abbreviation: 'HELIOS',
      contact_details: 'Leoforos Alexandras 80, 11474 Athens, Greece',
      registration_code: '000123456000',
      country: 'GR',
      vat_code: 'EL099888777',
      is_company: true,
    },
    domain: 'helios.example',
    callingCode: '+30',
    projects: [
      'Solar forecast: Yield of every roof, a day ahead.',
      'Ticketing: Ferries and buses.',
      'New site > Museum guide: Audio and pictures for visitors.',
      'Archive: Documents since 1974.',
    ].map(project),
  },
  {
    place: 'obliczenia',
    fields: {
      name: 'Instytut Obliczeń sp. z o.o.',
      abbreviation: 'IOK',
      contact_details: 'ul. Podchorążych 2, 30-084 Kraków, Poland',
      registration_code: '0000123456',
      country: 'PL',
      vat_code: 'PL6762000111',
      is_company: true,
    },
    domain: 'obliczenia.example',
    callingCode: '+48',
    projects: [
      'Protein folding: Long jobs on many cores.',
      'Queue > Job scheduler: Shares the machines fairly.',
      'Student cluster: Rebuilt every term.',
      'Results database: Read by everybody, written by one.',
    ].map(project),
  },
  {
    place: 'lumiere',
    fields: {
      name: 'Atelier Lumière SARL',
      abbreviation: 'LUM',
      contact_details: '14 rue des Tanneurs, 69005 Lyon, France',
      registration_code: '400500600',
      country: 'FR',
      vat_code: 'FR12400500600',
      is_company: true,
    },
    domain: 'lumiere.example',
    callingCode: '+33',
    projects: [
      'Render nodes: Films, frame by frame.',
      'Asset library: Models and textures.',
      'Prototype > Review room: Clients look at drafts.',
      'Website: Portfolio and press.',
    ].map(project),
  },
  {
    place: 'fjellvind',
    fields: {
      name: 'Fjellvind Forskning AS',
      abbreviation: 'FJV',
      contact_details: 'Fjordgata 7, 7010 Trondheim, Norway',
      registration_code: '998877665',
      country: 'NO',
      vat_code: 'NO 998877665 MVA',
      is_company: true,
    },
    domain: 'fjellvind.example',
    callingCode: '+47',
    projects: [
      'Wind model: Turbulence over ridges.',
      'Turbine telemetry: Two thousand channels.',
      'Open data > Data portal: What others may use.',
      'Field laptops: Sync after every trip.',
    ].map(project),
  },
  {
    place: 'dnipro',
    fields: {
      name: 'Dnipro Labs LLC',
      native_name: 'ТОВ «Дніпро Лабс»',
      abbreviation: 'DNIPRO',
      contact_details: 'Naberezhna Peremohy 10, 49000 Dnipro, Ukraine',
      registration_code: '30123456',
      country: 'UA',
      vat_code: 'UA301234504632',
      is_company: true,
    },
    domain: 'dnipro.example',
    callingCode: '+380',
    projects: [
      'Speech recognition: Training and evaluation.',
      'Call centre: Telephony and queues.',
      'Sandbox > Integration tests: Whole system, every night.',
      'Warehouse: Numbers for the management.',
    ].map(project),
  },
  {
    place: 'sakura',
    fields: {
      name: 'Sakura Keisan K.K.',
      native_name: '株式会社さくら計算',
      abbreviation: 'SAKURA',
      contact_details: '2-3-4 Dojima, Kita-ku, Osaka 530-0003, Japan',
      registration_code: '7010001000000',
      country: 'JP',
      vat_code: 'T7010001000000',
      is_company: true,
    },
    domain: 'sakura.example',
    callingCode: '+81',
    projects: [
      'Timetable: Connections over all lines.',
      'Game backend: Scores, matches, purchases.',
      'Trial > Point of sale: Tills of forty shops.',
    ].map(project),
  },
  {
    place: 'byrne',
    fields: {
      name: 'Aoife Byrne',
      contact_details: '5 Quay Street, Galway, H91 0001, Ireland',
      country: 'IE',
      is_company: false,
    },
    domain: 'byrne.example.org',
    callingCode: '+353',
    projects: ['Photo archive: Negatives, scanned.', 'Choir website: Dates, notes and recordings.'].map(project),
  },
  {
    place: 'beridze',
    fields: {
      name: 'Giorgi Beridze',
      native_name: 'გიორგი ბერიძე',
      contact_details: '18 Shardeni Street, 0105 Tbilisi, Georgia',
      country: 'GE',
      is_company: false,
    },
    domain: 'beridze.example.org',
    callingCode: '+995',
    projects: ['Chess server: Blitz on Sundays.'].map(project),
  },
  {
    place: 'fernandez',
    fields: {
      name: 'Lucía Fernández',
      contact_details: 'Calle del Pez 9, 28004 Madrid, Spain',
      country: 'ES',
      is_company: false,
    },
    domain: 'fernandez.example.org',
    callingCode: '+34',
    projects: ['Thesis experiments: Ends with the thesis.'].map(project),
  },
];
