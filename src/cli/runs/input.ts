/** A run's input from the command line. Source: docs/design/command-line.md#names-of-things */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { InexactNumberError, isExactNumber } from '../../base/json/exact-number.ts'
import {
  isJsonObject,
  JsonBoundError,
  parseJson as readJson,
  type JsonObject,
  type JsonValue,
} from '../../base/json/json.ts'
import { fileRef, type SvcClient } from '../../client/index.ts'
import type { CommandContext } from '../shell/command.ts'
import { openUserFile, readUserFile } from '../files/read-file.ts'
import { readTypedNumber } from '../shell/numbers.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface InputContract {
  /** `acme.refund-desk`, for messages. */
  readonly agent: string
  /** Version that is deployed, for messages. */
  readonly version: string
  /** The input contract; absent = any object. */
  readonly schema?: JsonValue
}

type Sources = Pick<CommandContext, 'cwd' | 'io'>

/**
 * Builds the input: the object of `--input` first, then each pair over it.
 * `key=text` (coerced to what the contract declares), `key:=json`, `key@path` (uploaded), `key=<path` (its text).
 */
export async function readInput(
  pairs: readonly string[],
  file: string | undefined,
  contract: InputContract,
  client: SvcClient,
  sources: Sources,
): Promise<JsonObject> {
  const members = new Map(file === undefined ? [] : Object.entries(await readObject(file, sources)))
  for (const pair of pairs) members.set(...(await readPair(pair, contract, client, sources)))
  // An assignment to `__proto__` would drop it: the server is to say what it does not take.
  return Object.fromEntries(members)
}

async function readPair(
  pair: string,
  contract: InputContract,
  client: SvcClient,
  sources: Sources,
): Promise<[string, JsonValue]> {
  // The first operator in the text decides, so that a value may hold any of them.
  const match = /^([^=@:]+)(:=|=<|=|@)(.*)$/s.exec(pair)
  if (!match)
    throw fail(
      'usage',
      { what: `"${pair}" is not an input.` },
      { fix: 'Write key=text, key:=json, key@file or key=<file.' },
    )
  const [, name = '', operator, text = ''] = match
  if (operator === ':=') return [name, parseJsonInput(text, `The value of ${name}`)]
  if (operator === '=<') return [name, await readText(text, sources)]
  if (operator === '@') {
    const upload = await client.uploadWorkspaceFile(await openUserFile(resolve(sources.cwd, text), text))
    return [name, fileRef(upload)]
  }
  return [name, coerce(name, text, contract)]
}

async function readObject(file: string, sources: Sources): Promise<JsonObject> {
  const value = parseJsonInput(
    file === '-' ? await sources.io.stdin.text() : await readText(file, sources),
    `The input in ${file}`,
  )
  if (!isJsonObject(value)) throw fail('usage', { what: `The input in ${file} is not an object.` })
  return value
}

/** Text of a file the command line names. */
export async function readText(path: string, { cwd }: Pick<CommandContext, 'cwd'>): Promise<string> {
  if (/^\s*[[{]/.test(path) && !existsSync(resolve(cwd, path)))
    throw fail(
      'usage',
      { what: 'The text of JSON stands where the path of a file is expected.' },
      { fix: 'Write the JSON to standard input and give - as the file.' },
    )
  return (await readUserFile(resolve(cwd, path), path)).toString('utf8')
}

/** @param read in place of the reader that refuses numbers which cannot be kept */
export function parseJsonInput(text: string, what: string, read: (text: string) => JsonValue = readJson): JsonValue {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof InexactNumberError) throw fail('usage', { what: `${what} is refused: ${error.message}.` })
    if (error instanceof JsonBoundError) throw fail('usage', { what: `${what} is refused: it is ${error.message}.` })
    throw fail('usage', { what: `${what} is not valid JSON: ${(error as Error).message}.` })
  }
}

/** Text as the scalar that the contract declares for the property; text stays text where it declares none. */
function coerce(name: string, text: string, contract: InputContract): JsonValue {
  const types = typesOf(contract.schema, name)
  if (types.length === 0 || types.includes('string')) return text
  const number = readTypedNumber(text)
  if ((types.includes('number') || types.includes('integer')) && number !== undefined) {
    if (!isExactNumber(text.trim()))
      throw fail(
        'usage',
        { what: `The number ${text} for ${name} cannot be kept exactly.` },
        { fix: 'Declare a text in the input contract.' },
      )
    return number
  }
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.includes('null') && text === 'null') return null
  if (types.includes('array') || types.includes('object'))
    throw fail('usage', {
      what: `${name} is ${types.join(' or ')} in the input contract of ${formatAgent(contract)}; write ${name}:=JSON.`,
    })
  throw fail('usage', {
    what: `"${text}" is no ${types.join(' or ')}, which the input contract of ${formatAgent(contract)} declares for ${name}.`,
  })
}

const formatAgent = ({ agent, version }: InputContract): string => `${agent}@${version}`

function typesOf(schema: JsonValue | undefined, name: string): readonly string[] {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return []
  const property = ownMember(schema['properties'], name)
  if (!isJsonObject(property)) return []
  const type = property['type']
  return [type].flat().filter((each) => typeof each === 'string')
}
