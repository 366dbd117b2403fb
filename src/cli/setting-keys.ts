/** Keys that `svc config get` and `svc config set` take, for completion. */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { packageFile } from './project/package-file.ts'
import { openProject } from './project/project.ts'
import type { Io } from './shell/io.ts'
import type { Suggestion } from './suggestion.ts'
import { textBefore } from '../base/text/text-parts.ts'

/** Keys of the project file: those of its schema, and those it has. */
export async function settingKeys(io: Io): Promise<readonly Suggestion[]> {
  const schema = JSON.parse(await readFile(packageFile('schemas/config.schema.json'), 'utf8')) as JsonObject
  const { file } = await openProject({ cwd: io.cwd, globals: {}, io })
  const own = file === undefined ? null : (parse(await readFile(file, 'utf8')) as JsonValue)
  const known = keysOfSchema(schema, '')
  const found = keysOfValue(own, '').filter((key) => !known.some(({ value }) => value === key))
  return [...known, ...found.map((value) => ({ value }))]
}

function keysOfSchema({ properties, description }: JsonObject, path: string): readonly Suggestion[] {
  if (!isJsonObject(properties ?? null))
    return [{ value: path, ...(typeof description === 'string' && { description: textBefore(description, '\n') }) }]
  return Object.entries(properties as JsonObject).flatMap(([name, below]) =>
    isJsonObject(below) ? keysOfSchema(below, path === '' ? name : `${path}.${name}`) : [],
  )
}

const keysOfValue = (value: JsonValue, path: string): readonly string[] =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([name, below]) => keysOfValue(below, path === '' ? name : `${path}.${name}`))
    : [path].filter((key) => key !== '')
