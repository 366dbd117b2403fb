/** Splits the output of a program into lines without keeping more of one than a bound. */
import { MAX_MCP_ANSWER_BYTES } from './mcp-exchange.ts'

export interface OutputLine {
  /** The line, or its beginning where it is longer than `MAX_MCP_ANSWER_BYTES`. */
  readonly text: string
  readonly bytes: number
  /** The last characters of a line that is cut. */
  readonly end?: string
  /** The output ended before the line did. */
  readonly isOpen?: true
}

export interface LineReader {
  push(chunk: Buffer): void
  /** The output has ended: what stands behind the last newline may be a whole message. */
  end(): void
}

/** A line beyond this is no answer. */
const MAX_LINE_BYTES = 16 * MAX_MCP_ANSWER_BYTES

/** Kept of the end of a line that is cut: some servers write the id of an answer behind its result. */
const END_BYTES = 256

const NEWLINE = 10

/** @param onEndless called when a line is longer than any answer may be */
export function createLineReader(onLine: (line: OutputLine) => void, onEndless: () => void): LineReader {
  let pieces: Buffer[] = []
  let bytes = 0
  let end: Buffer = Buffer.alloc(0)

  const add = (piece: Buffer): void => {
    // One byte more than is kept, so that the reader of the answer knows that it is cut.
    const room = MAX_MCP_ANSWER_BYTES + 1 - bytes
    if (room > 0) pieces.push(piece.subarray(0, room))
    bytes += piece.byteLength
    if (bytes > MAX_MCP_ANSWER_BYTES) end = Buffer.concat([end, piece.subarray(-END_BYTES)]).subarray(-END_BYTES)
  }
  const finish = (isOpen?: true): void => {
    const isCut = bytes > MAX_MCP_ANSWER_BYTES
    const text = new TextDecoder().decode(Buffer.concat(pieces), { stream: isCut }).replaceAll('\r', ' ')
    const line = { text, bytes, ...(isCut && { end: end.toString('latin1') }), ...(isOpen && { isOpen }) }
    ;[pieces, bytes, end] = [[], 0, Buffer.alloc(0)]
    onLine(line)
  }
  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at))
        finish()
        from = at + 1
      }
      add(chunk.subarray(from))
      if (bytes > MAX_LINE_BYTES) onEndless()
    },
    end() {
      if (bytes > 0 && bytes <= MAX_MCP_ANSWER_BYTES) finish(true)
    },
  }
}
