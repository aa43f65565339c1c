import * as v from 'valibot';

/* The used parts of EC2 Query API responses (providers.md 6.5). XML has numbers and booleans as text. */

const text = v.optional(v.string(), '');
const number = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));
const flag = v.pipe(
  text,
  v.transform((value) => value === 'true'),
);

/** A set of items. The vendor sends an empty set as an empty element or omits it. */
export const setOf = <T>(item: v.GenericSchema<unknown, T>) =>
  v.pipe(
    v.optional(v.union([v.literal(''), v.array(item)]), ''),
    v.transform((items): readonly T[] => (items === '' ? [] : items)),
  );

const tags = setOf(v.object({ key: v.string(), value: text }));

/** Reason for a state: a code such as `Server.InsufficientInstanceCapacity`, and a sentence. */
const reason = v.optional(v.object({ code: text, message: text }), { code: '', message: '' });

const device = v.object({
  deviceName: v.string(),
  ebs: v.optional(v.object({ volumeId: v.string(), deleteOnTermination: flag })),
});

const networkInterface = v.object({
  privateIpAddressesSet: setOf(
    v.object({ privateIpAddress: text, association: v.optional(v.object({ publicIp: text })) }),
  ),
  ipv6AddressesSet: setOf(v.object({ ipv6Address: v.string() })),
});

const instanceSchema = v.object({
  instanceId: v.string(),
  imageId: text,
  instanceState: v.object({ name: v.string() }),
  instanceType: v.string(),
  launchTime: text,
  stateReason: reason,
  rootDeviceName: text,
  blockDeviceMapping: setOf(device),
  networkInterfaceSet: setOf(networkInterface),
  tagSet: tags,
});

export const reservationSchema = v.object({ instancesSet: setOf(instanceSchema) });

export const volumeSchema = v.object({
  volumeId: v.string(),
  /** GiB */
  size: number,
  status: v.string(),
  volumeType: text,
  createTime: text,
  attachmentSet: setOf(v.object({ instanceId: v.string(), device: text, status: text })),
  tagSet: tags,
});

export const modificationSchema = v.object({
  modificationState: v.string(),
  /** GiB */
  targetSize: number,
  statusMessage: text,
});

export const imageSchema = v.object({ imageId: v.string(), name: text, rootDeviceName: text });

export const keySchema = v.object({ keyName: v.string() });

export const zoneSchema = v.object({ zoneName: v.string() });

export const instanceTypeSchema = v.object({
  instanceType: v.string(),
  vCpuInfo: v.object({ defaultVCpus: number }),
  memoryInfo: v.object({ sizeInMiB: number }),
});

export type VendorInstance = v.InferOutput<typeof instanceSchema>;
export type VendorVolume = v.InferOutput<typeof volumeSchema>;
export type VendorModification = v.InferOutput<typeof modificationSchema>;
export type VendorImage = v.InferOutput<typeof imageSchema>;
export type VendorInstanceType = v.InferOutput<typeof instanceTypeSchema>;

/** An error: `<Response><Errors><Error><Code>…</Code><Message>…</Message></Error></Errors></Response>`. */
export const rejectionSchema = v.object({
  Response: v.object({ Errors: v.object({ Error: v.object({ Code: v.string(), Message: text }) }) }),
});
