/** Numbers and texts as SSH writes them. Source: RFC 4251, section 5. */

const LENGTH_BYTES = 4

export interface SshReader {
  /** A number of 32 bits. */
  uint32(): number
  /** As many bytes as the number before them says. */
  string(): Buffer
  text(): string
  bytes(length: number): Buffer
  /** True where nothing follows. */
  atEnd(): boolean
}

/** @throws RangeError from each method, where there are fewer bytes */
export function readSshWire(from: Buffer): SshReader {
  let at = 0
  const bytes = (length: number): Buffer => {
    if (length > from.length - at) throw new RangeError('The data ends too early.')
    at += length
    return from.subarray(at - length, at)
  }
  const uint32 = (): number => bytes(LENGTH_BYTES).readUInt32BE()
  const string = (): Buffer => bytes(uint32())
  return { uint32, string, text: () => string().toString('utf8'), bytes, atEnd: () => at === from.length }
}

export function sshString(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
