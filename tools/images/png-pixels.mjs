import { inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BIT_DEPTH = 8;
/** Samples of a pixel by colour type (PNG specification, 11.2.2): those without a palette that a screenshot has. */
const CHANNELS = new Map([
  [2, 3],
  [6, 4],
]);

/**
 * The share of each colour in a PNG of 8 bits without a palette, 0 to 1, by `#rrggbb`, the most frequent first.
 *
 * @param {Buffer} png
 * @returns {Map<string, number>}
 * @throws {Error} for anything else
 */
export function coloursOf(png) {
  const { width, height, channels, data } = readPng(png);
  const counts = new Map();
  eachRow(data, width, height, channels, (row) => {
    for (let at = 0; at < row.length; at += channels) {
      const colour = (row[at] << 16) | (row[at + 1] << 8) | row[at + 2];
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  });
  return new Map(
    [...counts]
      .sort(([, left], [, right]) => right - left)
      .map(([colour, count]) => [`#${colour.toString(16).padStart(6, '0')}`, count / (width * height)]),
  );
}

function readPng(png) {
  if (!png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('it is no PNG');
  const parts = [];
  let header;
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = content;
    if (type === 'IDAT') parts.push(content);
    at += length + 12;
  }
  const channels = CHANNELS.get(header?.[9]);
  if (header === undefined || header[8] !== BIT_DEPTH || channels === undefined || header[12] !== 0) {
    throw new Error('it is a PNG of another kind than a screenshot');
  }
  return {
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    channels,
    data: inflateSync(Buffer.concat(parts)),
  };
}

/** Undoes the filters (PNG specification, 9.2), each row from the one above it. */
function eachRow(data, width, height, channels, onRow) {
  const length = width * channels;
  let above = Buffer.alloc(length);
  for (let y = 0; y < height; y += 1) {
    const start = y * (length + 1);
    const filter = data[start];
    const row = Buffer.from(data.subarray(start + 1, start + 1 + length));
    for (let x = 0; x < length; x += 1) {
      const left = x < channels ? 0 : row[x - channels];
      const corner = x < channels ? 0 : above[x - channels];
      row[x] = (row[x] + predicted(filter, left, above[x], corner)) & 0xff;
    }
    onRow(row);
    above = row;
  }
}

function predicted(filter, left, up, corner) {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4:
      return paeth(left, up, corner);
    default:
      throw new Error(`it has a row with the filter ${filter}`);
  }
}

function paeth(left, up, corner) {
  const estimate = left + up - corner;
  const [byLeft, byUp, byCorner] = [left, up, corner].map((value) => Math.abs(estimate - value));
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
