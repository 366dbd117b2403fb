import { crc32 } from 'node:zlib'

/** Largest block that deflate stores uncompressed. */
const BLOCK = 0xffff

/**
 * Gzip without compression. The output of a compressor depends on its version and the processor, so the same files would
 * give different bytes on another machine. Bundles are small texts.
 */
export function gzipUncompressed(bytes: Uint8Array): Uint8Array {
  // Deflate, no name, no time, unknown system.
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
  const blocks: Uint8Array[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK)
    const head = Buffer.alloc(5)
    head.writeUInt8(at + BLOCK >= bytes.length ? 1 : 0, 0)
    head.writeUInt16LE(block.length, 1)
    head.writeUInt16LE(block.length ^ BLOCK, 3)
    blocks.push(head, block)
  }
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(bytes), 0)
  trailer.writeUInt32LE(bytes.length % 2 ** 32, 4)
  return Buffer.concat([header, ...blocks, trailer])
}
