/** `.env` and `.env.local` beside the project file. Source: docs/design/command-line.md#settings */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { fail } from '../../base/failure.ts'
import { fileErrorOf, fileFailure } from '../../base/files/file-error.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { writeUserFile } from '../../base/files/write-file.ts'
import type { Project } from './project.ts'
import { usageFailure } from '../../base/usage-failure.ts'

type EnvVariables = Readonly<Record<string, string | undefined>>

/** A value of one of the files, and its line. */
export interface FileVariable {
  readonly value: string
  /** `.env:3`. */
  readonly place: string
}

/**
 * The environment plus variables of the files: only names that a document's `secrets` takes `fromEnv` and those
 * of programs of MCP servers, so that the files change nothing else, and never overriding what is set.
 */
export async function withDotEnv(
  env: EnvVariables,
  { directory, config }: Pick<Project, 'directory' | 'config'>,
  workspace: Workspace,
): Promise<EnvVariables> {
  const ofPrograms = Object.values(config.mcp_servers ?? {}).flatMap(({ env: names = [] }) => names)
  const names = new Set([
    ...ofPrograms,
    ...(config.mcp_logins?.env ?? []),
    ...workspace.documents
      .flatMap((document) => document.at('secrets.*'))
      .flatMap(({ value }) => {
        const name = isJsonObject(value) ? value['fromEnv'] : undefined
        return typeof name === 'string' ? [name] : []
      }),
  ])
  const added = [...(await readDotEnv(directory))].filter(([name]) => names.has(name))
  return {
    ...Object.fromEntries(added.map(([name, { value }]) => [name, value])),
    ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  }
}

/** All variables of the files; `.env.local` wins. @throws Failure `file_unusable` for one that is no text */
export async function readDotEnv(directory: string): Promise<ReadonlyMap<string, FileVariable>> {
  const found = new Map<string, FileVariable>()
  for (const file of ['.env', '.env.local']) {
    const path = join(directory, file)
    const bytes = await readFile(path).catch(() => undefined)
    const text = bytes ? decodeText(bytes, path) : ''
    for (const [name, value] of Object.entries(parseDotEnv(text)))
      if (value !== undefined) found.set(name, { value, place: `${file}:${lineOf(name, text)}` })
  }
  return found
}

/** From Node 24 on, `parseEnv` takes `export NAME` for the name where nothing stands behind the `=`. */
function parseDotEnv(text: string): Readonly<Record<string, string | undefined>> {
  const isMistaken = (name: string): boolean => /^export\s/.test(name)
  const found = parseEnv(text)
  if (!Object.keys(found).some(isMistaken)) return found
  const plain = text.replaceAll(
    /^([^\S\n]*)export([^\S\n]+[^\s=]+)(?=[^\S\n]*=[^\S\n]*$)/gm,
    (assignment, indent: string, name: string, at: number) => {
      // One within the quotes of another value is none, and stays.
      const marked = `${text.slice(0, at)}${assignment}${MARK}${text.slice(at + assignment.length)}`
      const isAssignment = Object.keys(parseEnv(marked)).some((each) => isMistaken(each) && each.endsWith(MARK))
      return isAssignment ? `${indent}${name}` : assignment
    },
  )
  return parseEnv(plain)
}

/** Behind a name in the text of a file, to see whether the parser takes it for one: it tells no places. */
const MARK = '_MARKED_TO_FIND_ITS_LINE'

/** Line of the assignment that counts: the last one that is not within the quotes of another value. */
function lineOf(name: string, text: string): number {
  const marked = `${name}${MARK}`
  const assignments = [
    ...text.matchAll(new RegExp(String.raw`^[^\S\n]*(?:export[^\S\n]+)?${escapeRegExp(name)}(?=[^\S\n]*=)`, 'gm')),
  ]
  const counts = assignments.findLast(({ index, 0: head }) => {
    const end = index + head.length
    return marked in parseDotEnv(`${text.slice(0, end - name.length)}${marked}${text.slice(end)}`)
  })
  return text.slice(0, counts?.index ?? 0).split('\n').length
}

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

/** Encodings by their marks. */
const ENCODINGS: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' }

/** UTF-8, or UTF-16 with its mark, as editors and shells of Windows write it. */
function decodeText(bytes: Uint8Array, path: string): string {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  const encoding = ENCODINGS[mark] ?? 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // The failure below names the file.
  }
  throw fail('file_unusable', { path, doing: 'read', why: 'it is no text in UTF-8' }, { fix: 'Save it as UTF-8.' })
}

/**
 * Sets one variable of `.env` in place and keeps every other line. Only its owner may read the file, and `.gitignore` names it.
 * @throws Failure `usage` for a value that the format of the file cannot hold, `file_unusable`
 */
export async function writeDotEnv(directory: string, name: string, value: string): Promise<void> {
  const file = join(directory, '.env')
  await ignoreDotEnv(directory)
  const line = `${name}=${quoted(name, value)}\n`
  const text = await readIfThere(file)
  const assignment = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=${ASSIGNED}[^\\n]*(?:\\n|$)`, 'gm')
  let isWritten = false
  const changed = text.replaceAll(assignment, () => {
    if (isWritten) return ''
    isWritten = true
    return line
  })
  const next = isWritten ? changed : `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${line}`
  const others = (content: string) => JSON.stringify({ ...parseDotEnv(content), [name]: '' })
  if (parseDotEnv(next)[name] !== value || others(next) !== others(`${text}\n${line}`))
    throw usageFailure(`${file} cannot be changed safely.`, `Write ${name} into it by hand.`)
  await writeUserFile(file, next, 0o600)
}

/** A value in quotes may have several lines. */
const ASSIGNED = `[ \\t]*(?:"[^"]*"|'[^']*'|\`[^\`]*\`)?`

function quoted(name: string, value: string): string {
  // A quote that opens and never closes could find its end in a later line.
  const forms = [...(/^['"`]/.test(value) ? [] : [value]), `'${value}'`, `"${value}"`, `\`${value}\``]
  const form = forms.find((each) => parseEnv(`${name}=${each}\nAFTER=1\n`)[name] === value)
  if (form !== undefined) return form
  throw usageFailure(`The value of ${name} has all kinds of quotes, which .env cannot hold.`)
}

async function ignoreDotEnv(directory: string): Promise<void> {
  const file = join(directory, '.gitignore')
  const text = await readIfThere(file)
  const wanted = ['.env', '.env.*'].filter((rule) => !text.split(/\r?\n/).includes(rule))
  if (wanted.length === 0) return
  const next = `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${wanted.join('\n')}\n`
  await writeUserFile(file, next)
}

async function readIfThere(file: string): Promise<string> {
  try {
    return decodeText(await readFile(file), file)
  } catch (error) {
    if (fileErrorOf(error)?.isMissing) return ''
    throw fileFailure(error, { path: file, doing: 'read' }) ?? error
  }
}
