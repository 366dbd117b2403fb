/** What the schemas tell lint about the errors of a value: messages, the meant key, alternatives. */
import type { ErrorObject } from 'ajv'
import { notes, type SchemaNote } from '../generated/notes.js'
import type { SchemaName } from './schema-keys.ts'

const NO_NOTE: SchemaNote = {}

/** The note of the schema whose keyword an error names. */
export function noteOf(schema: SchemaName, { schemaPath }: ErrorObject): SchemaNote {
  // `{properties: {base_url: false}}` has its note beside `properties`.
  const path = schemaPath.replace(/\/properties\/[^/]+\/false schema$/, '/properties')
  return notes[schema][path.slice(0, path.lastIndexOf('/'))] ?? NO_NOTE
}
