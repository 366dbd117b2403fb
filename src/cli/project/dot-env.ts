/** `.env` and `.env.local` beside the project file. Source: command line, 1.5. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { fileErrorOf, fileFailure } from '../../base/file-error.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { writeUserFile } from '../files/write-file.ts'
import { usageFailure } from '../shell/usage-failure.ts'

type EnvVariables = Readonly<Record<string, string | undefined>>

/** A value of one of the files, and its line. */
export interface FileVariable {
  readonly value: string
  /** `.env:3`. */
  readonly place: string
}

/**
 * The environment plus variables of the files: only names that a document's `secrets` takes `fromEnv`, so that the files
 * change nothing else, and never overriding what is set.
 */
export async function withDotEnv(env: EnvVariables, directory: string, workspace: Workspace): Promise<EnvVariables> {
  const names = new Set(
    workspace.documents
      .flatMap((document) => document.at('secrets.*'))
      .flatMap(({ value }) => {
        const name = isJsonObject(value) ? value['fromEnv'] : undefined
        return typeof name === 'string' ? [name] : []
      }),
  )
  const added = [...(await readDotEnv(directory))].filter(([name]) => names.has(name))
  return {
    ...Object.fromEntries(added.map(([name, { value }]) => [name, value])),
    ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  }
}

/** All variables of the files; `.env.local` wins. */
export async function readDotEnv(directory: string): Promise<ReadonlyMap<string, FileVariable>> {
  const found = new Map<string, FileVariable>()
  for (const file of ['.env', '.env.local']) {
    const text = await readFile(join(directory, file), 'utf8').catch(() => '')
    const lines = text.split('\n')
    for (const [name, value] of Object.entries(parseEnv(text))) {
      const line = lines.findLastIndex((each) => each.replace(/^\s*(?:export\s+)?/, '').startsWith(name))
      if (value !== undefined) found.set(name, { value, place: `${file}:${line + 1}` })
    }
  }
  return found
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
  const others = (content: string) => JSON.stringify({ ...parseEnv(content), [name]: '' })
  if (parseEnv(next)[name] !== value || others(next) !== others(`${text}\n${line}`))
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
    return await readFile(file, 'utf8')
  } catch (error) {
    if (fileErrorOf(error)?.isMissing) return ''
    throw fileFailure(error, { path: file, doing: 'read' }) ?? error
  }
}
