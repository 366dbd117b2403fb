import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import type { CommandContext } from '../../shell/command.ts'
import { packageFile } from '../../project/package-file.ts'
import { writeUserFile } from '../../files/write-file.ts'

export async function openapi({ given, mode, out, cwd }: CommandContext<unknown>): Promise<void> {
  const yaml = await readFile(packageFile('schemas/openapi.yaml'), 'utf8')
  const file = given.text('output')
  const asYaml = (given.text('format') ?? (file && /\.ya?ml$/.test(file) ? 'yaml' : 'json')) === 'yaml'
  if (file !== undefined) {
    await writeUserFile(resolve(cwd, file), asYaml ? yaml : `${JSON.stringify(parse(yaml), null, 2)}\n`)
    return out.hint(`wrote ${file}`)
  }
  if (asYaml && !mode.json) return out.line(yaml.trimEnd())
  await out.json(parse(yaml))
}
