/** `.env` and `.env.local` beside the project file. Source: command line, 1.5. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { isJsonObject } from '../../base/json.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'

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
