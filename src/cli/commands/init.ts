/** A new project from a template of the package. Writes files only. Source: command line, 2.1. */
import { relative, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { Call } from '../command.ts'
import type { Pipeline } from '../ci-files.ts'
import { nearest } from '../nearest.ts'
import { openProject } from '../project.ts'
import { aboutTemplate, planTemplate, templateNames, writeTemplate } from '../template.ts'

const DEFAULT_TEMPLATE = 'refund'

export async function init(call: Call): Promise<void> {
  const { given, mode, out, cwd, io, signal } = call
  const templates = await templateNames()
  if (given.flag('list')) return await list(templates, mode.json, out)
  const asks = mode.interactive && !mode.json && !mode.yes && given.text('template') === undefined
  const template = asks ? await askTemplate(call, templates) : (given.text('template') ?? DEFAULT_TEMPLATE)
  if (!templates.includes(template)) {
    const near = nearest(template, templates)
    throw fail(
      'usage',
      { what: `There is no template "${template}".` },
      { fix: near ? `Did you mean ${near}? svc init --list` : 'svc init --list' },
    )
  }
  const directory = resolve(cwd, given.argument(0) ?? '.')
  const ci = given.text('ci') as Pipeline | 'none' | undefined
  const files = await planTemplate(template, directory, {
    name: given.text('name') ?? (asks ? await askName(call) : undefined),
    force: given.flag('force'),
    git: given.choice('git') !== false,
    ...(ci !== undefined && ci !== 'none' && { ci }),
  })
  const shown = relative(cwd, directory) || '.'
  if (asks) {
    out.say([`${shown}/`, ...files.map(({ path }) => `  ${path}`)].join('\n'))
    if (!(await io.prompts.confirm(`Write these ${files.length} files?`, signal))) return out.say('nothing was written')
  }
  const written = await writeTemplate(directory, files)
  const next = [
    ...(shown === '.' ? [] : [`cd ${shown}`]),
    // What a pipeline is held to, committed with the documents.
    ...(ci === undefined || ci === 'none' ? [] : ['npm install --ignore-scripts', 'svc compile']),
    'svc dev',
  ]
  if (mode.json) return await out.json({ dir: directory, template, files: written, next })
  const { inventory } = await import('../inventory.ts')
  const { config } = await openProject({ ...call, cwd: directory })
  const created = written.filter(({ action }) => action === 'created').length
  out.line(`created ${shown}/ (${created} files): ${await inventory(directory, config.include)}`)
  out.hint(`next:  ${next.join(' && ')}          no API key needed, the model is scripted`)
}

async function askTemplate({ io, signal }: Call, templates: readonly string[]): Promise<string> {
  // The one that shows most comes first.
  const names = [DEFAULT_TEMPLATE, ...templates.filter((name) => name !== DEFAULT_TEMPLATE)]
  const choices = names.map(async (name) => ({ value: name, name: `${name.padEnd(10)} ${await aboutTemplate(name)}` }))
  return await io.prompts.select('template:', await Promise.all(choices), signal)
}

async function askName({ io, signal }: Call): Promise<string | undefined> {
  const name = (await io.prompts.text('namespace.name of the agent (empty: as in the template):', signal)).trim()
  return name === '' ? undefined : name
}

async function list(templates: readonly string[], json: boolean, out: Call['out']): Promise<void> {
  const items = await Promise.all(
    templates.map(async (name) => ({
      name,
      about: await aboutTemplate(name),
    })),
  )
  if (json) return await out.json({ items, total: items.length })
  for (const { name, about } of items) out.line(`${name.padEnd(10)} ${about}`)
}
