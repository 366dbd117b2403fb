import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../../base/json/json.ts'
import type { CommandContext } from '../../shell/command.ts'
import { packageFile } from '../../project/package-file.ts'
import { readSchemaFile } from '../../project/schema-file.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

const KINDS = ['agent', 'tool', 'policy', 'bundle', 'config', 'scenario', 'policytest', 'evalcase', 'event']
/** Prefix of the schema of a command's output. */
const OUTPUT = 'output:'

/** Usual places of documents by kind, for editors; each document also states its kind. */
const GLOBS: Readonly<Record<string, readonly string[]>> = {
  agent: ['agent.yaml', 'agents/**/*.yaml'],
  tool: ['tools/**/*.yaml'],
  policy: ['policies/**/!(*.policytest).yaml'],
  bundle: ['bundle.yaml'],
  config: ['svc.config.yaml'],
  scenario: ['**/*.scenario.yaml'],
  policytest: ['**/*.policytest.yaml'],
}

export async function schema({ given, mode, out, manual }: CommandContext<unknown>): Promise<void> {
  if (given.flag('vscode')) {
    const settings = Object.fromEntries(
      Object.entries(GLOBS).map(([kind, globs]) => [`./.schemas/${kind}.schema.json`, globs]),
    )
    return out.line(JSON.stringify({ 'yaml.schemas': settings }, null, 2))
  }
  if (given.flag('types')) return out.line((await readFile(packageFile('schemas/documents.d.ts'), 'utf8')).trimEnd())
  const outputs = manual.commands.flatMap(({ path, json }) => (json === undefined ? [] : [`${OUTPUT}${path}`]))
  const kinds = [...KINDS, ...outputs]
  // The command may be several words: svc schema output:policy eval.
  const kind = given.rest(0).join(' ').toLowerCase()
  if (kind === '') return mode.json ? await out.json({ items: kinds, total: kinds.length }) : out.line(kinds.join('\n'))
  if (!kinds.includes(kind)) {
    const fix = suggestWord(kind, kinds, `Kinds: ${KINDS.join(', ')}, ${OUTPUT}<command>.`)
    throw usageFailure(`There is no schema "${kind}".`, fix)
  }
  if (kind.startsWith(OUTPUT)) return await out.json(await schemaOfOutput(kind.slice(OUTPUT.length), manual.commands))
  const text = await readSchemaFile(kind)
  if (mode.json) return await out.json(JSON.parse(text))
  out.line(text.trimEnd())
}

async function schemaOfOutput(path: string, commands: CommandContext['manual']['commands']): Promise<JsonObject> {
  const [{ outputSchema }, { readOpenApi }] = await Promise.all([
    import('../../answers/output-schema.ts'),
    import('../../../server/http/openapi.ts'),
  ])
  const api = await readOpenApi()
  const [found] = commands.filter((each) => each.path === path).map((each) => outputSchema(each, api))
  return expectDefined(found, 'only commands that print JSON are offered')
}
