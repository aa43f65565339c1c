import { type ProviderType, providerKit } from 'tenantry';

const {
  ProviderError,
  computedValue,
  detail,
  exact,
  integer,
  invalid,
  propertyDetail,
  propertyInSet,
  propertyLink,
  resourceKind,
  shownDetail,
  shownProperty,
  text,
} = providerKit;

/** A provider type as an embedding application might add it: it rents lamps on coasts. */
export const lighthouse: ProviderType = {
  name: 'Lighthouse',
  prefix: 'lighthouse',
  hasGlobalProperties: false,
  isPublic: true,
  options: { keeper: text({ max: 50, help: 'Who is called at night.' }) },
  missingCredentials: ({ token }) => (token ? {} : { token: ['This field is required.'] }),
  quotas: { service: { lamp_count: 2 }, link: [], settings: [] },
  kinds: [
    resourceKind({
      name: 'Lamp',
      path: 'lighthouse-lamps',
      plural: 'lamps',
      category: 'vms',
      runtime: { online: 'lit', offline: 'dark' },
      fields: {
        coast: propertyLink('Lighthouse.Coast', 'lighthouse-coasts'),
        watts: { ...integer({ min: 1, max: 1000 }), json: () => computedValue(detail('watts')) },
        coast_name: shownDetail('coast_name'),
      },
      filters: { watts: exact(`CAST(${detail('watts')} AS TEXT)`) },
      orderings: { watts: detail('watts') },
      isCreatable: true,
      accept: (request, values, place) => {
        const { coast, watts = 60 } = values;
        const chosen = propertyInSet(request, coast, place.settings);
        if (!chosen) throw invalid({ coast: ['Invalid hyperlink - Object does not exist.'] });
        return { row: { watts, coast_name: chosen.name }, parameters: { coast: chosen.backend_id } };
      },
      quotaDeltas: () => ({ service: { lamp_count: 1 } }),
      actions: [
        { name: 'start', runtimeStates: ['dark'], response: { status: 'start was scheduled' } },
        { name: 'stop', runtimeStates: ['lit'], response: { status: 'stop was scheduled' } },
        {
          name: 'dim',
          fields: { watts: integer({ required: true, min: 1, max: 1000 }) },
          response: { status: 'dimming was scheduled' },
        },
      ],
      importing: { fields: ['watts'] },
    }),
  ],
  properties: [
    {
      name: 'Coast',
      path: 'lighthouse-coasts',
      fields: { depth: shownProperty('depth', 'integer') },
      filters: { depth: exact(`CAST(${propertyDetail('depth')} AS TEXT)`) },
      orderings: { depth: propertyDetail('depth') },
    },
  ],
  simulation: {
    properties: {
      Coast: [
        { backend_id: 'n', name: 'North', details: { depth: 30 } },
        { backend_id: 's', name: 'South', details: { depth: 12 } },
      ],
    },
    kinds: {
      Lamp: {
        id: (n, draw) => `lamp-${n}-${draw.hex(4)}`,
        transitionStates: { create: ['warming'], start: ['warming'] },
        final: { create: 'lit', start: 'lit', stop: 'dark' },
        actionValues: { dim: (_values, { watts }) => ({ watts }) },
        unmanaged: () => ({ watts: 40, coast_name: 'North' }),
      },
    },
  },
  // A vendor's driver without network access.
  driver: () => {
    const silent = async (): Promise<never> => {
      throw new ProviderError('unavailable', 'no boat');
    };
    return { ping: silent, sync: silent, create: silent, update: silent, delete: silent, action: silent, pull: silent };
  },
};
