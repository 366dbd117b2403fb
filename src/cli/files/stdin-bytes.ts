import type { Io } from '../shell/io.ts'

/** All of standard input as bytes: decoding would replace invalid UTF-8 silently, which the caller must report. */
export const stdinBytes = async ({ stdin }: Pick<Io, 'stdin'>): Promise<Uint8Array> =>
  stdin.bytes ? await stdin.bytes() : Buffer.from(await stdin.text())

/** Writes bytes to standard output. */
export const writeOut = ({ writeBytes, stdout }: Pick<Io, 'writeBytes' | 'stdout'>, bytes: Uint8Array): void =>
  writeBytes ? writeBytes(bytes) : stdout.write(new TextDecoder().decode(bytes))
