/** The OpenAPI document, from the file that is its source. */
import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../base/json/json.ts'

/** Beside `src/` when run from the sources, beside `dist/` when bundled. */
const PLACES = ['../../../schemas/openapi.yaml', '../../schemas/openapi.yaml', '../schemas/openapi.yaml']

let document: Promise<JsonObject> | undefined

export const readOpenApi = (): Promise<JsonObject> => (document ??= load())

async function load(): Promise<JsonObject> {
  // Loaded on demand: nothing else in the runtime reads YAML.
  const [{ load: parse }, text] = await Promise.all([import('js-yaml'), readFirst()])
  return parse(text) as JsonObject
}

async function readFirst(): Promise<string> {
  for (const place of PLACES) {
    try {
      return await readFile(new URL(place, import.meta.url), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error('schemas/openapi.yaml is missing from the package.')
}
