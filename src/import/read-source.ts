/** Reads the source of an import: a file, or an address under the egress rules. Nothing in it is executed. */
import { signalWithin } from '../base/signal-within.ts'
import { resolve } from 'node:path'
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml'
import { fileFailure } from '../base/files/file-error.ts'
import { innermostMessage } from '../base/failure.ts'
import { findExceededBound, type JsonValue } from '../base/json/json.ts'
import { shortenText } from '../base/text/cut-text.ts'
import { createEgress } from '../base/net/egress.ts'
import { readBoundedText } from '../base/files/read-bounded.ts'
import { usageFailure } from '../base/usage-failure.ts'
import { parseUrl } from '../base/net/parse-url.ts'

/** Largest document, in bytes; the largest public ones have about 12 MB. */
const MAX_BYTES = 64 * 1024 * 1024
/** YAML takes about ten times as long to read as JSON. */
const MAX_YAML_CHARACTERS = 16 * 1024 * 1024
/** Aliases of YAML count as what they repeat: some lines can stand for more values than any memory holds, or for themselves. */
const BOUNDS = { maxLevels: 256, maxValues: 5_000_000 }
const YAML_SCHEMA = CORE_SCHEMA.withTags(mergeTag)
const FETCH_MS = 60_000

export interface ImportSource {
  readonly value: JsonValue
  /** The path as given, or the address without user and query, which may be secret. */
  readonly name: string
  /** The address that it was fetched from. */
  readonly url?: string
}

/** @throws Failure `usage`, `file_missing`, `file_unusable` */
export async function readImportSource(
  given: string,
  { cwd, allowedHosts, signal }: { cwd: string; allowedHosts: readonly string[]; signal: AbortSignal },
): Promise<ImportSource> {
  if (!/^https?:\/\//i.test(given)) return { value: parseSource(readFileText(resolve(cwd, given)), given), name: given }
  const url = parseUrl(given)
  if (url === undefined) throw usageFailure(`"${given}" is no address.`)
  const name = `${url.origin}${url.pathname}`
  return { value: parseSource(await fetchText(given, name, allowedHosts, signal), name), name, url: given }
}

function readFileText(path: string): string {
  try {
    return readBoundedText(path)
  } catch (error) {
    throw fileFailure(error, { path, doing: 'read' }) ?? error
  }
}

async function fetchText(
  given: string,
  name: string,
  allowedHosts: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const fetch = createEgress({ from: 'document', allowedHosts })
  try {
    const response = await fetch(given, {
      signal: signalWithin(FETCH_MS, signal),
      headers: { accept: 'application/json, application/yaml, */*;q=0.5' },
    })
    if (response.status !== 200) throw new Error(`it answered ${response.status}`)
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    signal.throwIfAborted()
    throw usageFailure(`${name} cannot be read: ${shortenText(innermostMessage(error), 300)}`)
  }
}

/** JSON or YAML, within bounds. @throws Failure `usage`, which names the source */
export function parseSource(text: string, name: string): JsonValue {
  // A name or path with a replaced character would be sent as another one.
  if (text.includes('\ufffd'))
    throw usageFailure(`${name} is not UTF-8, or holds U+FFFD.`, 'Convert it first: iconv -t UTF-8')
  const value = parseText(text, name)
  const exceeded = findExceededBound(value, BOUNDS)
  if (exceeded !== undefined) throw usageFailure(`${name} is ${exceeded}.`)
  return value
}

/** Reads numbers as any JavaScript program does: what is not exact is left out of the documents later. */
function parseText(text: string, name: string): JsonValue {
  try {
    if (/^\s*[{[]/.test(text)) return JSON.parse(text.replace(/^\ufeff/, '')) as JsonValue
  } catch (error) {
    // YAML has flow mappings, too.
    if (text.length > MAX_YAML_CHARACTERS) throw unreadable(name, error)
  }
  if (text.length > MAX_YAML_CHARACTERS)
    throw usageFailure(`${name} is YAML of more than ${MAX_YAML_CHARACTERS} characters.`, 'Convert it to JSON first.')
  try {
    return (load(text, { schema: YAML_SCHEMA }) ?? null) as JsonValue
  } catch (error) {
    throw unreadable(name, error)
  }
}

const unreadable = (name: string, error: unknown): Error =>
  usageFailure(`${name} is neither JSON nor YAML: ${shortenText((error as Error).message.split('\n')[0]!, 300)}`)
