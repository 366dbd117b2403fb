import type { Io } from '../shell/io.ts'

/** All of standard input as it came: what is no UTF-8 must be told, not mended silently. */
export const stdinBytes = async ({ stdin }: Pick<Io, 'stdin'>): Promise<Uint8Array> =>
  stdin.bytes ? await stdin.bytes() : Buffer.from(await stdin.text())

/** Writes to standard output what may be no text. */
export const writeOut = ({ writeBytes, stdout }: Pick<Io, 'writeBytes' | 'stdout'>, bytes: Uint8Array): void =>
  writeBytes ? writeBytes(bytes) : stdout.write(new TextDecoder().decode(bytes))
