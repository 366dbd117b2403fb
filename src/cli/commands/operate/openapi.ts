import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readOpenApi } from '../../../server/http/openapi.ts'
import type { CommandContext } from '../../shell/command.ts'
import { packageFile } from '../../project/package-file.ts'
import { writeUserFile } from '../../files/write-file.ts'

export async function openapi({ given, mode, out, cwd }: CommandContext<unknown>): Promise<void> {
  const file = given.text('output')
  const asYaml = (given.text('format') ?? (file && /\.ya?ml$/.test(file) ? 'yaml' : 'json')) === 'yaml'
  const printYaml = (): Promise<string> => readFile(packageFile('schemas/openapi.yaml'), 'utf8')
  if (file !== undefined) {
    const text = asYaml ? await printYaml() : `${JSON.stringify(await readOpenApi(), null, 2)}\n`
    await writeUserFile(resolve(cwd, file), text)
    return out.hint(`wrote ${file}`)
  }
  if (asYaml && !mode.json) return out.line((await printYaml()).trimEnd())
  await out.json(await readOpenApi())
}
