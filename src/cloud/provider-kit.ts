import { exact } from '../kernel/collection/filter.ts';
import { computedValue } from '../kernel/collection/representation.ts';
import { integer, text } from '../kernel/collection/values.ts';
import { invalid } from '../kernel/http/error.ts';
import { ProviderError } from './catalogue/provider-error.ts';
import { resourceKind } from './catalogue/type.ts';
import { propertyDetail, propertyInSet, propertyLink, shownProperty } from './properties/property.ts';
import { SimulatorDriver } from './providers/simulator/driver.ts';
import { detail, shownDetail } from './resources/details.ts';

/** Building blocks for provider types in embedding programs (`providers` of `createServer`). */
export const providerKit = {
  ProviderError,
  SimulatorDriver,
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
} as const;
