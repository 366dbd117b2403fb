/** What bytes are, by their first ones: a vendor refuses a whole request for one image under a wrong name. */

/** Media types by the bytes that files of them begin with, as Latin-1 text. */
const BEGINNINGS: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['audio/wav', /^RIFF[^]{4}WAVE/],
  ['audio/mp3', /^(?:ID3|\xff[\xf2\xf3\xfa\xfb])/],
  ['audio/ogg', /^OggS/],
  ['audio/flac', /^fLaC/],
  ['application/pdf', /^%PDF-/],
]

/** The media type of an image, a sound or a PDF; undefined for anything else. */
export function detectMediaType(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  return BEGINNINGS.find(([, pattern]) => pattern.test(beginning))?.[0]
}

/** The longer side of an image in pixels; undefined where its header does not say. */
export function longestEdgeOf(bytes: Uint8Array, mediaType: string): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const [width, height] = sizeOf(view, mediaType)
    return Math.max(width, height)
  } catch {
    // A header that ends too early.
    return undefined
  }
}

/** @throws RangeError where the header is not whole, or of no known form */
function sizeOf(view: DataView, mediaType: string): readonly [number, number] {
  switch (mediaType) {
    case 'image/png':
      return [view.getUint32(16), view.getUint32(20)]
    case 'image/gif':
      return [view.getUint16(6, true), view.getUint16(8, true)]
    case 'image/jpeg':
      return sizeOfJpeg(view)
    case 'image/webp':
      return sizeOfWebp(view)
    default:
      throw new RangeError('no image')
  }
}

/** Reads the segments until the one that begins a frame. */
function sizeOfJpeg(view: DataView): readonly [number, number] {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at)
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)]
    if (marker < 0xff01 || marker === 0xffda) throw new RangeError('no frame')
  }
}

function sizeOfWebp(view: DataView): readonly [number, number] {
  const read24 = (at: number): number =>
    view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16)
  // The last letter of `VP8X`, `VP8L` and `VP8 `.
  switch (String.fromCharCode(view.getUint8(15))) {
    case 'X':
      return [read24(24) + 1, read24(27) + 1]
    case 'L': {
      const bits = view.getUint32(21, true)
      return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1]
    }
    default:
      return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff]
  }
}
