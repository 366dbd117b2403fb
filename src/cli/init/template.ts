/** Templates of the package. Nothing is downloaded or executed. */
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fail } from '../../base/failure.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { ciFiles, type PipelineHost } from './ci-files.ts'
import { withRealModel, type RealModelProvider, type TemplateFile } from './real-model.ts'
import { writeUserFile } from '../../base/files/write-file.ts'
import { packageFile } from '../project/package-file.ts'
import { readSchemaFile } from '../project/schema-file.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { textBefore } from '../../base/text/text-parts.ts'

/** The template without `--full`: eleven files. */
export const SMALL_TEMPLATE = 'starter'

/** The template of `--full`, which is also that of `svc demo`. */
export const FULL_TEMPLATE = 'refund'

/** Names in the templates that `--name` replaces. */
const TEMPLATE_NAMESPACE = 'acme'
const TEMPLATE_AGENT: Readonly<Record<string, string>> = {
  analyst: 'analyst',
  blank: 'assistant',
  coder: 'coder',
  intake: 'intake',
  invoices: 'invoice-payer',
  monorepo: 'front-desk',
  refund: 'refund-desk',
  report: 'daily-report',
  research: 'researcher',
  starter: 'refund-desk',
  support: 'support-desk',
}

const GITIGNORE = ['.svc/', '.env', '.env.*', '*.log']

/** Every checkout has the bytes that were committed, so that editors, diffs and digests agree on all machines. */
const GITATTRIBUTES = '* text=auto eol=lf\n'

/** Output of a pipeline's commands when they are run by hand. */
const GITIGNORE_CI = [
  'node_modules/',
  'before.tgz',
  'policy.xml',
  'scenarios.xml',
  'authority.txt',
  'lint.sarif',
  'gl-code-quality-report.json',
]

export const templateNames = async (): Promise<string[]> =>
  (await readdir(packageFile('templates'), { withFileTypes: true }))
    .filter((each) => each.isDirectory())
    .map(({ name }) => name)
    .sort()

/** The name of a template with what it is about. */
export const aboutTemplate = async (name: string): Promise<string> =>
  textBefore(await readFile(join(packageFile('templates'), name, 'README.md'), 'utf8'), '\n').replace(/^#+ */, '')

export interface TemplateOptions {
  readonly name?: string | undefined
  readonly force?: boolean
  /** False leaves `.gitignore` and `.gitattributes` out. */
  readonly git?: boolean
  readonly ci?: PipelineHost
  /** In place of the scripted models. */
  readonly model?: RealModelProvider
}

interface WrittenFile {
  readonly path: string
  readonly action: 'created' | 'skipped'
}

/**
 * Lists the files that a template would write.
 * @throws Failure `directory_not_empty`, `usage` for an invalid name
 */
export async function planTemplate(
  template: string,
  directory: string,
  { name, force = false, git = true, ci, model }: TemplateOptions = {},
): Promise<readonly TemplateFile[]> {
  const rename = renamer(template, name)
  const existing = (await readdir(directory).catch(noFiles)).filter((name) => name !== '.git')
  if (existing.length > 0 && !force) throw fail('directory_not_empty', { directory })
  const source = join(packageFile('templates'), template)
  const paths = (await readdir(source, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map((each) => relative(source, join(each.parentPath, each.name)))
    .sort()
  // Small enough to be read whole.
  const isSmall = template === SMALL_TEMPLATE
  const has = (ending: RegExp): boolean => paths.some((path) => ending.test(path))
  const templatePipeline = paths.includes('.github/workflows/agents.yml') ? 'github' : undefined
  const chosen = ci ?? templatePipeline
  const pipeline = chosen
    ? ciFiles(chosen, { policies: has(/\.policytest\.yaml$/), scenarios: has(/\.scenario\.yaml$/) }).filter(
        ({ path }) => !paths.includes(path),
      )
    : []
  const ignored = [...GITIGNORE, ...(chosen ? GITIGNORE_CI : [])]
  const workspace = workspaceName(basename(directory))
  const files = [
    // npm leaves `.gitignore` files out of packages, so the template cannot hold it.
    ...(git
      ? [
          { path: '.gitignore', text: `${ignored.join('\n')}\n` },
          { path: '.gitattributes', text: GITATTRIBUTES },
        ]
      : []),
    ...pipeline,
    ...(await Promise.all(
      paths.map(async (path) => {
        const text = rename(await readFile(join(source, path), 'utf8'))
        return { path: rename(path), text: isSmall ? text : `${editorHeader(path, text)}${text}` }
      }),
    )),
    ...(await Promise.all(
      (isSmall ? [] : SCHEMAS).map(async (kind) => ({
        path: `${SCHEMA_DIRECTORY}/${kind}.schema.json`,
        text: await readSchemaFile(kind),
      })),
    )),
  ]
  const guide = isSmall ? [] : (await guideFiles()).map(({ path, text }) => ({ path, text: rename(text) }))
  return [...(model ? withRealModel(files, model) : files), ...guide].map(({ path, text }) => ({
    path: path.replaceAll('\\', '/'),
    text: path === 'svc.config.yaml' && workspace ? text.replace(/^workspace: .*$/m, `workspace: ${workspace}`) : text,
  }))
}

/**
 * Writes all files or none: where one fails, as on a full disk, what was made before it is removed, so that the same command works
 * once there is room. Files that exist are never overwritten.
 */
export async function writeTemplate(
  directory: string,
  files: readonly TemplateFile[],
): Promise<readonly WrittenFile[]> {
  const written: WrittenFile[] = []
  const folders: string[] = []
  try {
    for (const { path, text } of files) {
      const file = join(directory, path)
      folders.push(...missingFolders(dirname(file)))
      makeDirectory(dirname(file))
      const isThere = existsSync(file)
      if (!isThere) await writeUserFile(file, text)
      written.push({ path, action: isThere ? 'skipped' : 'created' })
    }
  } catch (error) {
    for (const { path, action } of written)
      if (action === 'created') await rm(join(directory, path), { force: true }).catch(() => undefined)
    // Only empty ones can be removed.
    for (const folder of folders.reverse()) await rmdir(folder).catch(() => undefined)
    throw error
  }
  return written
}

/** The directories that must be made for `path`, outer ones first. */
const missingFolders = (path: string): readonly string[] =>
  existsSync(path) || dirname(path) === path ? [] : [...missingFolders(dirname(path)), path]

/** What coding agents read first; `svc help authoring` shows it. */
export const readGuide = (): Promise<string> => readFile(join(packageFile('templates'), 'AGENTS.md'), 'utf8')

const guideFiles = async (): Promise<readonly TemplateFile[]> => [
  { path: 'AGENTS.md', text: await readGuide() },
  {
    path: '.claude/skills/svc/SKILL.md',
    text: await readFile(join(packageFile('templates'), 'SKILL.md'), 'utf8'),
  },
]

const noFiles = (error: NodeJS.ErrnoException): string[] => {
  if (error.code === 'ENOENT') return []
  throw error
}

/** Schemas for editors; lint skips directories that begin with a dot. */
const SCHEMA_DIRECTORY = '.schemas'
const SCHEMAS = ['agent', 'tool', 'policy', 'bundle', 'config', 'scenario', 'policytest']

/** The first line of a document, which tells an editor its schema; empty for every other file. */
function editorHeader(path: string, text: string): string {
  if (!/\.ya?ml$/.test(path)) return ''
  const documentKind = /^apiVersion: *svc\/v1$/m.test(text)
    ? /^kind: *(Agent|Tool|Policy|Bundle)$/m.exec(text)?.[1]
    : undefined
  const kind =
    basename(path) === 'svc.config.yaml'
      ? 'config'
      : (documentKind?.toLowerCase() ?? /\.(scenario|policytest)\.yaml$/.exec(path)?.[1])
  if (kind === undefined) return ''
  const up = relative(dirname(path), '.').replaceAll('\\', '/')
  const directory = up === '' ? `./${SCHEMA_DIRECTORY}` : `${up}/${SCHEMA_DIRECTORY}`
  return `# yaml-language-server: $schema=${directory}/${kind}.schema.json\n`
}

/** The directory's name as workspace name, if YAML needs no quotes for it. */
const workspaceName = (name: string): string | undefined => (/^[a-z][a-z0-9-]*$/.test(name) ? name : undefined)

function renamer(template: string, name: string | undefined): (text: string) => string {
  if (name === undefined) return (text) => text
  const match = /^([a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*)\.([a-z][a-z0-9-]*)$/.exec(name)
  if (!match) throw usageFailure(`--name takes namespace.name in lower case, not "${name}".`)
  const [, namespace = '', agent = ''] = match
  const old = TEMPLATE_AGENT[template]
  return (text) => {
    const renamed = text.replaceAll(new RegExp(`\\b${TEMPLATE_NAMESPACE}\\b(?!\\.example)`, 'g'), namespace)
    return old === undefined ? renamed : renamed.replaceAll(new RegExp(`\\b${old}\\b`, 'g'), agent)
  }
}
