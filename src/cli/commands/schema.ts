import { readFile } from 'node:fs/promises'
import { fail } from '../../base/failure.ts'
import type { Call } from '../command.ts'
import { packageFile } from '../package-file.ts'
import { nearest } from '../nearest.ts'

const KINDS = ['agent', 'tool', 'policy', 'bundle', 'config', 'scenario', 'policytest']

/** Where documents of a kind usually lie, for editors; each says its kind in its own header too. */
const GLOBS: Readonly<Record<string, readonly string[]>> = {
  agent: ['agent.yaml', 'agents/**/*.yaml'],
  tool: ['tools/**/*.yaml'],
  policy: ['policies/**/!(*.policytest).yaml'],
  bundle: ['bundle.yaml'],
  config: ['svc.config.yaml'],
}

export async function schema({ given, mode, out }: Call): Promise<void> {
  if (given.flag('vscode')) {
    const settings = Object.fromEntries(KINDS.map((kind) => [`./.schemas/${kind}.schema.json`, GLOBS[kind]]))
    return out.line(JSON.stringify({ 'yaml.schemas': settings }, null, 2))
  }
  if (given.flag('types')) return out.line((await readFile(packageFile('dist/documents.d.ts'), 'utf8')).trimEnd())
  const kind = given.argument(0)?.toLowerCase()
  if (kind === undefined)
    return mode.json ? await out.json({ items: KINDS, total: KINDS.length }) : out.line(KINDS.join('\n'))
  if (!KINDS.includes(kind)) {
    const near = nearest(kind, KINDS)
    throw fail(
      'usage',
      { what: `There is no schema "${kind}".` },
      { fix: near ? `Did you mean ${near}?` : `Kinds: ${KINDS.join(', ')}.` },
    )
  }
  const text = await readFile(packageFile(`schemas/${kind}.schema.json`), 'utf8')
  if (mode.json) return await out.json(JSON.parse(text))
  out.line(text.trimEnd())
}
