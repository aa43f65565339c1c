import { crc32 } from 'node:zlib';

/*
 * Detects the type of an image from its content. Reads the chunks of the format up to the end marker, without decoding pixels, to
 * require a complete image. A RangeError for reading past the end means that the image is truncated.
 */

const formats: Readonly<Record<string, (content: Buffer) => boolean>> = {
  'image/png': isPng,
  'image/jpeg': isJpeg,
  'image/gif': isGif,
  'image/webp': isWebp,
};

/** Returns the media type of a complete PNG, JPEG, GIF or WebP image; undefined for anything else. */
export function imageType(content: Buffer): string | undefined {
  return Object.keys(formats).find((type) => {
    try {
      return formats[type]?.(content);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  });
}

/** Limit of width and height in pixels: a small file may declare a size that exhausts the memory of image viewers. */
const maxSide = 4096;

const isSize = (width: number, height: number): boolean =>
  width > 0 && height > 0 && width <= maxSide && height <= maxSide;

const text = (content: Buffer, from: number, length: number): string => content.toString('latin1', from, from + length);

/** Chunks of length, type, data and checksum, from IHDR to IEND (PNG 5.3). */
function isPng(content: Buffer): boolean {
  if (text(content, 0, 8) !== '\x89PNG\r\n\x1a\n' || text(content, 12, 4) !== 'IHDR') return false;
  if (!isSize(content.readUInt32BE(16), content.readUInt32BE(20))) return false;
  let hasData = false;
  for (let offset = 8; ; ) {
    const type = text(content, offset + 4, 4);
    const end = offset + 8 + content.readUInt32BE(offset);
    if (content.readUInt32BE(end) !== crc32(content.subarray(offset + 4, end))) return false;
    if (type === 'IEND') return hasData;
    hasData ||= type === 'IDAT';
    offset = end + 4;
  }
}

/** Segments of marker and length up to the first scan, whose data contains only the end marker (T.81 B.1). */
function isJpeg(content: Buffer): boolean {
  if (content.readUInt16BE(0) !== 0xffd8) return false;
  let hasFrame = false;
  for (let offset = 2; ; offset += 2 + content.readUInt16BE(offset + 2)) {
    while (content.readUInt16BE(offset) === 0xffff) offset++;
    const marker = content.readUInt16BE(offset);
    if (marker < 0xffc0) return false;
    if (marker === 0xffda) return hasFrame && content.includes(Buffer.of(0xff, 0xd9), offset);
    const isFrame = marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    // A height of 0 means that the height follows the first scan.
    if (isFrame && !isSize(content.readUInt16BE(offset + 7), content.readUInt16BE(offset + 5) || 1)) return false;
    hasFrame ||= isFrame;
  }
}

/** Blocks up to the trailer (GIF89a 12). A block is a sequence of sub-blocks that ends with an empty one. */
function isGif(content: Buffer): boolean {
  if (!/^GIF8[79]a$/.test(text(content, 0, 6)) || !isSize(content.readUInt16LE(6), content.readUInt16LE(8)))
    return false;
  const colourTable = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const endOfBlock = (start: number): number => {
    let offset = start;
    while (content.readUInt8(offset) > 0) offset += 1 + content.readUInt8(offset);
    return offset + 1;
  };
  let images = 0;
  for (let offset = 13 + colourTable(content.readUInt8(10)); ; ) {
    const introducer = content.readUInt8(offset);
    if (introducer === 0x3b) return images > 0;
    if (introducer === 0x21) offset = endOfBlock(offset + 2);
    else if (introducer === 0x2c) offset = endOfBlock(offset + 11 + colourTable(content.readUInt8(offset + 9)));
    else return false;
    if (introducer === 0x2c) images++;
  }
}

/** Chunks of type and length, padded to even lengths, inside a RIFF chunk. One of them contains a picture (RFC 9649). */
function isWebp(content: Buffer): boolean {
  if (text(content, 0, 4) !== 'RIFF' || text(content, 8, 4) !== 'WEBP') return false;
  const end = 8 + content.readUInt32LE(4);
  if (end > content.length) return false;
  let hasPicture = false;
  for (let offset = 12; offset < end; ) {
    const length = content.readUInt32LE(offset + 4);
    if (offset + 8 + length > end) return false;
    const type = text(content, offset, 4);
    const size = webpSize(content, type, offset + 8);
    if (size && !isSize(...size)) return false;
    hasPicture ||= length > 0 && ['VP8 ', 'VP8L', 'ANMF'].includes(type);
    offset += 8 + length + (length % 2);
  }
  return hasPicture;
}

/** Returns width and height from a chunk that contains them; `offset` is the start of its data. */
function webpSize(content: Buffer, type: string, offset: number): [width: number, height: number] | undefined {
  if (type === 'VP8X') return [content.readUIntLE(offset + 4, 3) + 1, content.readUIntLE(offset + 7, 3) + 1];
  if (type === 'ANMF') return [content.readUIntLE(offset + 6, 3) + 1, content.readUIntLE(offset + 9, 3) + 1];
  if (type === 'VP8L') {
    const bits = content.readUInt32LE(offset + 1);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  // Fourteen bits each. The two bits above them are a display scale.
  if (type === 'VP8 ') return [content.readUInt16LE(offset + 6) & 0x3fff, content.readUInt16LE(offset + 8) & 0x3fff];
  return undefined;
}
