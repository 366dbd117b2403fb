/** Decodes the bytes of a file, with a finding where they are not plain UTF-8. */
import { createFinding, type Diagnostic } from './diagnostic.ts'
import { createSource, type SourceText } from './source.ts'

export interface FileInput {
  /** Relative to the workspace, `/` separated. */
  readonly path: string
  readonly text?: string
  readonly bytes?: Uint8Array
}

/** Decodes UTF-8; no source where the bytes are not UTF-8. */
export function decodeUtf8(file: FileInput): { readonly source?: SourceText; readonly findings: Diagnostic[] } {
  let text = file.text
  if (text === undefined) {
    try {
      text = UTF8.decode(file.bytes)
    } catch {
      return { findings: [notUtf8(file)] }
    }
  }
  if (!text.startsWith('\uFEFF')) return { source: createSource(file.path, text), findings: [] }
  const at = { path: file.path, pointer: '', range: createSource(file.path, '').span(0, 0) }
  return {
    source: createSource(file.path, text.slice(1)),
    findings: [
      createFinding('doc/bom', 'warning', at, 'The file begins with a byte order mark.', {
        // The text of a source has no mark, so any edit of it removes the mark.
        fix: { description: RESAVE, edits: [{ path: file.path, range: at.range, text: '' }] },
      }),
    ],
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const RESAVE = 'Save it as UTF-8 without a byte order mark.'

/** Text in another encoding. UTF-16 is recognised by its byte order mark and can be converted. */
function notUtf8({ path, bytes }: FileInput): Diagnostic {
  const seen = createSource(path, new TextDecoder().decode(bytes))
  const at = { path, pointer: '', range: seen.span(0, 0) }
  const text = bytes && utf16(bytes)
  if (text === undefined) return createFinding('doc/not-utf8', 'error', at, 'The file is not UTF-8.', { fix: RESAVE })
  return createFinding('doc/not-utf8', 'error', at, 'The file is UTF-16, not UTF-8.', {
    fix: { description: RESAVE, edits: [{ path, range: seen.span(0, seen.text.length), text }] },
  })
}

function utf16(bytes: Uint8Array): string | undefined {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  if (mark !== 'fffe' && mark !== 'feff') return undefined
  try {
    return new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
