/** Creates a project from a template of the package. Only writes files. Source: docs/design/command-line.md#tests */
import { relative, resolve } from 'node:path'
import type { CommandContext } from '../../shell/command.ts'
import type { PipelineHost } from '../../init/ci-files.ts'
import { REAL_MODELS, type RealModelProvider } from '../../init/real-model.ts'
import { nearestWord } from '../../../base/text/nearest-word.ts'
import { openProject } from '../../project/project.ts'
import {
  aboutTemplate,
  FULL_TEMPLATE,
  planTemplate,
  SMALL_TEMPLATE,
  templateNames,
  writeTemplate,
} from '../../init/template.ts'
import type { initAnswer, templatesAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { packageSpecifier } from '../../shell/version.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function init(
  call: CommandContext<ValueOf<typeof initAnswer> | ValueOf<typeof templatesAnswer>>,
): Promise<void> {
  const { given, mode, out, cwd, io, signal } = call
  const templates = await templateNames()
  if (given.flag('list')) return await list(templates, mode.json, out)
  const wanted = given.text('template')
  if (wanted !== undefined) checkTemplate(wanted, templates)
  const full = given.flag('full')
  if (full && wanted !== undefined && wanted !== FULL_TEMPLATE)
    throw usageFailure(`--full is the template ${FULL_TEMPLATE}: leave out one of the two.`)
  // Whoever names the folder has said enough.
  const asks = mode.interactive && !mode.json && !mode.yes && given.argument(0) === undefined
  const usual = full ? FULL_TEMPLATE : SMALL_TEMPLATE
  const named = given.argument(0) ?? (asks ? await askFolder(call, wanted) : '.')
  const template = wanted ?? (asks && !full ? await askTemplate(call, templates) : usual)
  const directory = resolve(cwd, named)
  const ci = given.text('ci') as PipelineHost | 'none' | undefined
  const model = given.text('model') as RealModelProvider | undefined
  const files = await planTemplate(template, directory, {
    name: given.text('name') ?? (asks ? await askName(call) : undefined),
    force: given.flag('force'),
    git: given.choice('git') !== false,
    ...(ci !== undefined && ci !== 'none' && { ci }),
    ...(model !== undefined && { model }),
  })
  const shown = relative(cwd, directory) || '.'
  if (asks) {
    out.message(`${shown}/`)
    foldersOf(files.map(({ path }) => path)).forEach((line) => out.message(`  ${line}`))
    if (!(await io.prompts.confirm(`Write these ${files.length} files?`, signal, true)))
      return out.message('nothing was written')
  }
  const written = await writeTemplate(directory, files)
  const next = [
    ...(shown === '.' ? [] : [`cd ${shown}`]),
    // Pipelines check against the lock file, so it is committed with the documents.
    ...(ci === undefined || ci === 'none' ? [] : ['npm install --ignore-scripts', 'svc compile']),
    ...(model === undefined ? [] : [REAL_MODELS[model].before]),
    'svc dev',
  ]
  if (mode.json) return await out.json({ dir: directory, template, files: written, next })
  const { describeInventory } = await import('../../init/inventory.ts')
  const inventory = await describeInventory(await openProject({ ...call, cwd: directory }))
  const created = written.filter(({ action }) => action === 'created').length
  out.prose(`created ${shown}/ (${created} files): ${inventory}`)
  const archive = packageSpecifier.replace(/^file:/, '')
  if (archive !== packageSpecifier && written.some(({ path }) => path === 'package.json'))
    out.hint(
      `first: copy ${archive} into ${shown}/ and commit it: no registry has the package yet (npm pack writes it)`,
    )
  out.hint(
    `next:  ${next.join(' && ')}${model === undefined ? '          no API key needed, the model is scripted' : ''}`,
  )
}

/** One line for each folder, those of the project's own folder first: 30 files fit on a screen. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Map<string, string[]>([['', []]])
  for (const path of paths) {
    const at = path.lastIndexOf('/') + 1
    const [folder, file] = [path.slice(0, at), path.slice(at)]
    folders.set(folder, [...(folders.get(folder) ?? []), file])
  }
  return [...folders].map(([folder, files]) => `${folder === '' ? '' : `${folder}  `}${files.join('  ')}`)
}

function checkTemplate(name: string, templates: readonly string[]): void {
  if (templates.includes(name)) return
  const near = nearestWord(name, templates)
  const fix = near ? `Did you mean ${near}? svc init --list` : 'svc init --list'
  throw usageFailure(`There is no template "${name}".`, fix)
}

async function askTemplate({ io, signal }: CommandContext, templates: readonly string[]): Promise<string> {
  // The one that is read in a minute, then the most complete.
  const first = [SMALL_TEMPLATE, FULL_TEMPLATE]
  const names = [...first, ...templates.filter((name) => !first.includes(name))]
  const choices = names.map(async (name) => ({ value: name, name, description: await aboutTemplate(name) }))
  return await io.prompts.select('template:', await Promise.all(choices), signal)
}

/** The current directory may hold other files, so it is never the default. */
async function askFolder({ io, signal }: CommandContext, template: string | undefined): Promise<string> {
  const suggested = template === undefined ? 'my-agents' : `${template}-demo`
  return (await io.prompts.text(`folder (empty: ${suggested}, . is this one):`, signal)).trim() || suggested
}

async function askName({ io, signal }: CommandContext): Promise<string | undefined> {
  const name = (await io.prompts.text('namespace.name of the agent (empty: as in the template):', signal)).trim()
  return name === '' ? undefined : name
}

async function list(
  templates: readonly string[],
  json: boolean,
  out: CommandContext<ValueOf<typeof templatesAnswer>>['out'],
): Promise<void> {
  const items = await Promise.all(
    templates.map(async (name) => ({
      name,
      about: await aboutTemplate(name),
    })),
  )
  if (json) return await out.json({ items, total: items.length })
  for (const { name, about } of items) out.prose(`${name.padEnd(10)} ${about}`)
}
