import { readFile } from 'node:fs/promises'
import { packageFile } from './package-file.ts'

/** Notes for lint, each on a line of its own and never the last of its mapping. */
const NOTES = /^ *"x-[a-z-]+": .*,\n/gm

/** A JSON Schema of the package as it is published: without notes for lint, which strict compilers refuse. */
export const readSchemaFile = async (kind: string): Promise<string> =>
  (await readFile(packageFile(`schemas/${kind}.schema.json`), 'utf8')).replaceAll(NOTES, '')
