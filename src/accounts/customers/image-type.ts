import { crc32 } from 'node:zlib';

/*
 * An image is recognised by its content, and only when it is whole: the parts of its format are walked up to the end
 * mark. Pixels are not decoded. Reading behind the end throws, which means that the image was cut short.
 */

const formats: Readonly<Record<string, (content: Buffer) => boolean>> = {
  'image/png': isPng,
  'image/jpeg': isJpeg,
  'image/gif': isGif,
  'image/webp': isWebp,
};

/** The media type of a whole PNG, JPEG, GIF or WebP image; undefined for anything else. */
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

const text = (content: Buffer, from: number, length: number): string => content.toString('latin1', from, from + length);

/** Chunks of length, type, data and checksum, from IHDR to IEND (PNG 5.3). */
function isPng(content: Buffer): boolean {
  if (text(content, 0, 8) !== '\x89PNG\r\n\x1a\n' || text(content, 12, 4) !== 'IHDR') return false;
  if (content.readUInt32BE(16) === 0 || content.readUInt32BE(20) === 0) return false;
  let hasData = false;
  for (let at = 8; ; ) {
    const type = text(content, at + 4, 4);
    const end = at + 8 + content.readUInt32BE(at);
    if (content.readUInt32BE(end) !== crc32(content.subarray(at + 4, end))) return false;
    if (type === 'IEND') return hasData;
    hasData ||= type === 'IDAT';
    at = end + 4;
  }
}

/** Segments of marker and length up to the first scan; the scan's data holds no marker but the end of the image (T.81 B.1). */
function isJpeg(content: Buffer): boolean {
  if (content.readUInt16BE(0) !== 0xffd8) return false;
  let hasFrame = false;
  for (let at = 2; ; at += 2 + content.readUInt16BE(at + 2)) {
    while (content.readUInt16BE(at) === 0xffff) at++;
    const marker = content.readUInt16BE(at);
    if (marker < 0xffc0) return false;
    if (marker === 0xffda) return hasFrame && content.includes(Buffer.of(0xff, 0xd9), at);
    const isFrame = marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    hasFrame ||= isFrame && content.readUInt16BE(at + 7) > 0;
  }
}

/** Blocks up to the trailer (GIF89a 12); a block is a row of sub-blocks, the last of which is empty. */
function isGif(content: Buffer): boolean {
  if (!/^GIF8[79]a$/.test(text(content, 0, 6)) || content.readUInt16LE(6) === 0 || content.readUInt16LE(8) === 0)
    return false;
  const colourTable = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const behindBlock = (start: number): number => {
    let at = start;
    while (content.readUInt8(at) > 0) at += 1 + content.readUInt8(at);
    return at + 1;
  };
  let images = 0;
  for (let at = 13 + colourTable(content.readUInt8(10)); ; ) {
    const introducer = content.readUInt8(at);
    if (introducer === 0x3b) return images > 0;
    if (introducer === 0x21) at = behindBlock(at + 2);
    else if (introducer === 0x2c) at = behindBlock(at + 11 + colourTable(content.readUInt8(at + 9)));
    else return false;
    if (introducer === 0x2c) images++;
  }
}

/** Chunks of type and length, padded to even lengths, inside one RIFF chunk; one of them holds a picture (RFC 9649). */
function isWebp(content: Buffer): boolean {
  if (text(content, 0, 4) !== 'RIFF' || text(content, 8, 4) !== 'WEBP') return false;
  const end = 8 + content.readUInt32LE(4);
  if (end > content.length) return false;
  let hasPicture = false;
  for (let at = 12; at < end; ) {
    const length = content.readUInt32LE(at + 4);
    if (at + 8 + length > end) return false;
    hasPicture ||= length > 0 && ['VP8 ', 'VP8L', 'ANMF'].includes(text(content, at, 4));
    at += 8 + length + (length % 2);
  }
  return hasPicture;
}
