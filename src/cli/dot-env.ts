/** `.env` and `.env.local` beside the project file. Source: command line, 1.5. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { isJsonObject } from '../base/json.ts'
import type { Workspace } from '../documents/workspace.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * The environment with what the files add: only names that some document's `secrets` takes `fromEnv`, so that a file that
 * lies in a project changes nothing else, and never over what is set.
 */
export async function withDotEnv(env: Env, directory: string, workspace: Workspace): Promise<Env> {
  const names = new Set(
    workspace.documents
      .flatMap((document) => document.at('secrets.*'))
      .flatMap(({ value }) => {
        const name = isJsonObject(value) ? value['fromEnv'] : undefined
        return typeof name === 'string' ? [name] : []
      }),
  )
  const added: Record<string, string> = {}
  for (const file of ['.env', '.env.local']) {
    const text = await readFile(join(directory, file), 'utf8').catch(() => '')
    for (const [name, value] of Object.entries(parseEnv(text)))
      if (names.has(name) && value !== undefined) added[name] = value
  }
  return { ...added, ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) }
}
