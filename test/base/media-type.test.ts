import { expect, test } from 'vitest'
import { detectMediaType, longestEdgeOf } from '../../src/base/media-type.ts'

const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

/** Beginnings of files as programs write them, and the longer side of images. */
const FILES: readonly (readonly [string, Uint8Array, string | undefined, number | undefined])[] = [
  ['a PNG', png(640, 9000), 'image/png', 9000],
  ['a PNG that ends in its header', png(1, 1).subarray(0, 12), 'image/png', undefined],
  ['a GIF', Buffer.from('GIF89a\x40\x01\xf0\x00', 'latin1'), 'image/gif', 320],
  [
    'a JPEG whose frame follows other segments',
    Buffer.from('ffd8ffe000044a46ffdb000301ffc2000b0801e0028003', 'hex'),
    'image/jpeg',
    640,
  ],
  ['a JPEG without a frame', Buffer.from('ffd8ffda0002', 'hex'), 'image/jpeg', undefined],
  ['a JPEG whose segments lead nowhere', Buffer.from('ffd8ff00000000000000', 'hex'), 'image/jpeg', undefined],
  [
    'an extended WebP',
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0'), Buffer.from('ff0f00ff0700', 'hex')]),
    'image/webp',
    4096,
  ],
  [
    'a lossless WebP',
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f'), Buffer.from('ff008f00', 'hex')]),
    'image/webp',
    573,
  ],
  [
    'a lossy WebP',
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\0\0\0'), Buffer.from('40012c01', 'hex')]),
    'image/webp',
    320,
  ],
  ['a sound', Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'audio/wav', undefined],
  ['an MP3 with a title', Buffer.from('ID3\x04'), 'audio/mp3', undefined],
  ['an MP3 without one', Buffer.from('fffb9064', 'hex'), 'audio/mp3', undefined],
  ['an Ogg', Buffer.from('OggS'), 'audio/ogg', undefined],
  ['a FLAC', Buffer.from('fLaC'), 'audio/flac', undefined],
  ['a PDF', Buffer.from('%PDF-1.7'), 'application/pdf', undefined],
  ['an SVG, which is text', Buffer.from('<svg xmlns="…">'), undefined, undefined],
  ['a page that says not found', Buffer.from('<html>404'), undefined, undefined],
  ['nothing', Buffer.alloc(0), undefined, undefined],
]

test.each(FILES)('%s is what its bytes say', (_, bytes, mediaType, longestEdge) => {
  const found = detectMediaType(bytes)
  expect(found).toBe(mediaType)
  expect(longestEdgeOf(bytes, found ?? '')).toBe(longestEdge)
})
