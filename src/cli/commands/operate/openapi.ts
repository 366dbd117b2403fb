import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { stringify } from 'yaml'
import type { JsonObject } from '../../../base/json/json.ts'
import { operatorDocument } from '../../../operations/operator-document.ts'
import { readOpenApi } from '../../../server/http/openapi.ts'
import type { CommandContext } from '../../shell/command.ts'
import { packageFile } from '../../project/package-file.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'

export async function openapi({ given, mode, out, cwd }: CommandContext<unknown>): Promise<void> {
  const isOperator = given.flag('operator')
  const read = async (): Promise<JsonObject> =>
    isOperator ? operatorDocument(await readOpenApi()) : await readOpenApi()
  const readYaml = async (): Promise<string> =>
    isOperator
      ? stringify(await read(), { aliasDuplicateObjects: false })
      : await readFile(packageFile('schemas/openapi.yaml'), 'utf8')
  const file = given.text('output')
  const asYaml = (given.text('format') ?? (file && /\.ya?ml$/.test(file) ? 'yaml' : 'json')) === 'yaml'
  if (file !== undefined) {
    await writeUserFile(resolve(cwd, file), asYaml ? await readYaml() : `${JSON.stringify(await read(), null, 2)}\n`)
    return out.hint(`wrote ${file}`)
  }
  if (asYaml && !mode.json) return out.line((await readYaml()).trimEnd())
  await out.json(await read())
}
