import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { Diagnostic } from '../../documents/diagnostic.ts'
import { lint as check, type LintOptions } from '../../documents/lint.ts'
import { directoryFiles, type Contents } from '../../documents/files.ts'
import { lintInParts } from '../../documents/lint-parts.ts'
import { loadWorkspace, type LoadOptions } from '../../documents/load.ts'
import { decode } from '../../documents/read.ts'
import type { Format } from '../../documents/report/formats.ts'
import { summarise, type Summary } from '../../documents/report/summary.ts'
import { rules } from '../../documents/rules/index.ts'
import type { Workspace } from '../../documents/workspace.ts'
import type { Call } from '../command.ts'
import { crewFor } from '../lint-crew.ts'
import { openLintCache, type LintCache } from '../lint-cache.ts'
import type { Checked, Mended } from '../lint-fix.ts'
import { wholeNumber } from '../numbers.ts'
import type { Project } from '../project.ts'
import type { Operator } from '../operator.ts'
import { isPolicyTest } from '../policy/test-path.ts'
import { needPaths, openDocuments, pathInProject } from '../project-path.ts'
import { createNotebook, hasRegistry, serverFacts, type Notebook } from '../registry.ts'
import { nearest } from '../nearest.ts'
import { stdinBytes, writeOut } from '../stdin-bytes.ts'

export async function lint(call: Call): Promise<number> {
  const { given, cwd, io } = call
  const paths = given.rest(0)
  const stdin = paths.length === 1 && paths[0] === '-'
  if (stdin && (given.flag('watch') || given.text('changed') !== undefined))
    throw fail('usage', { what: 'Standard input is read once: --watch and --changed need files.' })
  if (!stdin) await needPaths(cwd, paths)
  const project = await openDocuments(call, paths[0] === undefined || stdin ? undefined : resolve(cwd, paths[0]))
  const input = stdin
    ? {
        path: pathInProject(project, resolve(cwd, given.text('stdin-filename') ?? 'stdin.yaml')),
        bytes: await stdinBytes(io),
      }
    : undefined
  if (!given.flag('watch')) return await once(call, project, input)
  const last: Last = {}
  let code = await once(call, project, input, last)
  const { watchFiles } = await import('../watch.ts')
  const watch = await watchFiles(
    project.directory,
    async () => {
      code = await once(call, project, input, last)
    },
    call.signal,
  )
  // What was saved after the first run and before the watch began.
  code = await once(call, project, input, last)
  await new Promise<void>((done) => {
    if (call.signal.aborted) done()
    else call.signal.addEventListener('abort', () => done(), { once: true })
  })
  await watch.close()
  return code
}

interface Input {
  readonly path: string
  readonly bytes: Uint8Array
}

/** What was told last; one save may be several changes of files. */
interface Last {
  told?: string
}

async function once(call: Call, project: Project, input: Input | undefined, last?: Last): Promise<number> {
  const { given, mode, out, io } = call
  const maxWarnings = wholeNumber(given.text('max-warnings'), 'max-warnings')
  const started = io.clock.monotonic()
  const dry = given.flag('fix-dry-run')
  const overlay = input === undefined ? {} : { [input.path]: input.bytes }
  const look = async (texts: Contents): Promise<Checked> => {
    const kept = cacheOf(call, project, texts)
    const before = kept?.recall()
    if (before) return before
    const checked = isOfFilesAlone(call, project)
      ? await checkInParts(call, project, input, texts)
      : await checkAtOnce(call, project, await load(call, project, input, texts))
    kept?.keep(checked.workspace, checked.findings)
    return checked
  }
  const fixing = given.flag('fix') || dry ? await import('../lint-fix.ts') : undefined
  const result: Checked & Partial<Mended> = fixing ? await fixing.mend(look, overlay) : await look(overlay)
  const { workspace, findings } = result
  const summary = summarise(findings, workspace)
  if (summary.files === 0) {
    if (given.text('changed') === undefined)
      throw fail('no_documents', { where: input ? 'standard input' : given.rest(0).join(', ') || project.directory })
    if (!mode.json) out.hint('no document is affected')
  }
  if (fixing && result.texts) {
    if (!dry && input === undefined) await fixing.writeTexts(project.directory, result.texts)
    if (!mode.json && (dry || input !== undefined)) await showFixed(call, project, input, result.texts, dry)
  }
  const code = summary.errors > 0 || (maxWarnings !== undefined && summary.warnings > maxWarnings) ? 1 : 0
  if (last) {
    const telling = JSON.stringify([findings, summary])
    if (last.told === telling) return code
    last.told = telling
  }
  await tell(call, project, workspace, findings, input !== undefined && fixing !== undefined && !dry)
  if (!mode.json) out.hint(told(summary, io.clock.monotonic() - started, result.fixed))
  return code
}

/** @param aside true where standard output has the fixed document */
async function tell(
  call: Call,
  project: Project,
  workspace: Workspace,
  findings: readonly Diagnostic[],
  aside: boolean,
): Promise<void> {
  const { given, mode, out, io } = call
  const format = (mode.json ? 'json' : (given.text('format') ?? 'text')) as Format
  // A clean run, the usual one, has nothing to draw.
  if (findings.length === 0 && format === 'text') return
  const { formats } = await import('../../documents/report/formats.ts')
  const color = (aside ? mode.color.stderr : mode.color.stdout) > 0
  if (mode.json) return await out.json(JSON.parse(formats.json(findings, { workspace, color })))
  const placed = inRepository(findings, project.directory, io.env)
  const text = formats[format](OF_REPOSITORY.has(format) ? placed : findings, { workspace, color }).trimEnd()
  const line = aside ? out.say : out.line
  if (text !== '') line(text)
  if (given.text('format') === undefined && io.env['GITHUB_ACTIONS'] === 'true' && findings.length > 0)
    line(formats.github(placed).trimEnd())
}

/** Formats whose readers look for the files from the root of the repository. */
const OF_REPOSITORY: ReadonlySet<Format> = new Set(['github', 'gitlab', 'sarif'])

/** The findings with their paths from the root that the pipeline names, where the project lies below it. */
function inRepository(
  findings: readonly Diagnostic[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly Diagnostic[] {
  const root = env['GITHUB_WORKSPACE'] || env['CI_PROJECT_DIR']
  const below = root ? relative(resolve(root), directory).replaceAll('\\', '/') : ''
  if (below === '' || below.startsWith('..') || isAbsolute(below)) return findings
  const placed = <T extends { readonly path: string }>(each: T): T => ({ ...each, path: `${below}/${each.path}` })
  return findings.map((each) => ({ ...placed(each), related: each.related.map(placed) }))
}

/** Standard input comes back mended; what a dry run would do to files is drawn as a difference. */
async function showFixed(
  { out, io }: Call,
  project: Project,
  input: Input | undefined,
  texts: Readonly<Record<string, string>>,
  dry: boolean,
): Promise<void> {
  const mended = input && texts[input.path]
  if (input !== undefined && !dry)
    return mended === undefined ? writeOut(io, input.bytes) : out.line(mended.replace(/\n$/, ''))
  const { unifiedDiff } = await import('../../documents/fmt/diff.ts')
  const before = await loadWorkspace(project.directory, {
    focus: [],
    ...(input && { overlay: { [input.path]: input.bytes } }),
  })
  for (const [path, text] of Object.entries(texts)) {
    const { source } = decode({ path, bytes: before.files.read(path) ?? new Uint8Array() })
    if (source === undefined || source.text === text) out.line(`${path}: written as UTF-8 without a byte order mark`)
    else out.line(unifiedDiff(path, source.text, text).trimEnd())
  }
}

/** What is read, and what is told of. */
function chosenBy(
  { given, cwd }: Pick<Call, 'given' | 'cwd'>,
  project: Project,
  input: Input | undefined,
  overlay: Contents,
): LoadOptions {
  const paths = given.rest(0)
  const named = paths.map((path) => pathInProject(project, resolve(cwd, path)))
  const focus = input ? [input.path] : paths.length === 0 ? undefined : named
  return { ...(project.config.include && { include: project.config.include }), overlay, ...(focus && { focus }) }
}

/** Everything of the project, of which the named paths are told; standard input stands in for a file. */
async function load(
  { given, cwd, out, mode }: Call,
  project: Project,
  input: Input | undefined,
  overlay: Contents,
): Promise<Workspace> {
  const { focus, ...options } = chosenBy({ given, cwd }, project, input, overlay)
  const base = given.text('changed')
  if (base === undefined) return await loadWorkspace(project.directory, { ...options, ...(focus && { focus }) })
  const [{ changedSince }, { affectedBy }] = await Promise.all([
    import('../git.ts'),
    import('../../documents/dependents.ts'),
  ])
  const whole = await loadWorkspace(project.directory, options)
  const { paths: changed, before } = await changedSince(project.directory, base, (path) =>
    /\.(?:ya?ml|json)$/.test(path),
  )
  // Who led to a document before is concerned when it is gone, or is called otherwise.
  const former =
    Object.keys(before).length > 0
      ? await loadWorkspace(project.directory, { ...options, overlay: { ...overlay, ...before } })
      : whole
  const affected = [...new Set([former, whole].flatMap((each) => affectedBy(each, changed)))]
    .sort()
    .filter(
      (path) =>
        whole.files.has(path) &&
        (focus === undefined || focus.some((each) => each === '' || path === each || path.startsWith(`${each}/`))),
    )
  const documents = affected.filter((path) => whole.read.includes(path))
  if (!mode.json && Object.keys(overlay).length === 0)
    out.hint(`${documents.length} of ${whole.read.length} files affected by ${counted(changed.length, 'changed file')}`)
  // A file that is no document is looked at through the documents that name it.
  return { ...whole, focus: affected }
}

/** True where what is found depends on files and options: not on a registry, the environment, servers or a git base. */
const isOfFilesAlone = ({ given }: Pick<Call, 'given'>, project: Project): boolean =>
  !hasRegistry(project) && !given.flag('check-env') && !given.flag('mcp-live') && given.text('changed') === undefined

/** Undefined where the result depends on more than files that can be read again. */
function cacheOf({ given, cwd, io }: Call, project: Project, texts: Contents): LintCache | undefined {
  // The name of the bundled file holds the digest of the program; sources have none.
  const edition = basename(import.meta.url)
  if (edition.endsWith('.ts') || Object.keys(texts).length > 0 || !isOfFilesAlone({ given }, project)) return undefined
  const home = io.env['XDG_CACHE_HOME'] || (io.env['HOME'] && join(io.env['HOME'], '.cache'))
  const settings = {
    config: project.config,
    paths: given.rest(0).map((path) => resolve(cwd, path)),
    strict: given.flag('strict'),
    crossFile: given.choice('cross-file'),
    rules: given.list('rule'),
  }
  return openLintCache(project, edition, settings, home ? join(home, 'svc') : undefined)
}

/** Part by part: no more than a bundle is in memory, and other threads help. */
async function checkInParts(call: Call, project: Project, input: Input | undefined, texts: Contents): Promise<Checked> {
  const files = directoryFiles(project.directory, texts)
  const options = optionsOf(call, project)
  // Tests are run on what compiles, for which all documents are at hand.
  if (options.rules?.['policy/untested'] !== 'off' && files.paths.some(isPolicyTest))
    return await checkAtOnce(call, project, await load(call, project, input, texts))
  const look = (facts?: Partial<LintOptions>): Promise<Checked> =>
    lintInParts(files, chosenBy(call, project, input, texts), { ...options, ...facts }, crewFor)
  // Where there are no tests every policy is untested, which is said of a project without errors.
  const strictly = { coverage: new Map() }
  const first = await look(options.strict === true ? strictly : {})
  const findings = first.findings.filter(({ rule }) => rule !== 'policy/untested')
  const facts = options.strict === true && isSound(options, findings) ? strictly : {}
  const locks = await locksFor(project, () => load(call, project, input, texts), options, findings)
  if (locks !== undefined) return await look({ ...facts, ...locks })
  return options.strict === true && facts !== strictly ? await look() : first
}

async function checkAtOnce(call: Call, project: Project, workspace: Workspace): Promise<Checked> {
  const { given, io } = call
  const notebook = createNotebook(true)
  const env = given.flag('check-env')
    ? await (await import('../dot-env.ts')).withDotEnv(io.env, project.directory, workspace)
    : undefined
  const options = { ...optionsOf(call, project), published: notebook, ...(env && { env }) }
  const findings = check(workspace, options)
  const facts = await factsFor(call, project, workspace, options, notebook, findings)
  return { workspace, findings: facts ? check(workspace, { ...options, ...facts }) : findings }
}

function optionsOf({ given }: Call, { config }: Project): LintOptions {
  return {
    strict: given.flag('strict') || config.lint?.profile === 'strict',
    rules: { ...configured(config.lint?.rules ?? {}), ...severities(given.list('rule')) },
    crossFile: given.choice('cross-file') !== false,
    ...(config.providers && { providers: config.providers }),
    ...(config.guardrails && { guardrails: config.guardrails.map((path) => path.replace(/^\.\//, '')) }),
  }
}

/** What more there is to know; undefined where that is nothing. */
async function factsFor(
  call: Call,
  project: Project,
  workspace: Workspace,
  options: LintOptions,
  notebook: Notebook,
  findings: readonly Diagnostic[],
): Promise<Partial<LintOptions> | undefined> {
  const registry = hasRegistry(project)
    ? await askRegistry(call, project, workspace, options, notebook, findings)
    : { known: findings, facts: await locksFor(project, () => workspace, options, findings) }
  const live = call.given.flag('mcp-live')
  const sound = isSound(options, registry.known)
  const tests =
    sound &&
    options.rules?.['policy/untested'] !== 'off' &&
    workspace.files.paths.some(isPolicyTest) &&
    // What is wrong in files that nobody asked about is not told, but keeps tests from running.
    isSound(options, workspace.focus === undefined ? registry.known : check(unfocused(workspace), options))
  if (!live && !tests && options.strict !== true) return registry.facts
  const { askServers, runPolicyTests } = await import('../lint-facts.ts')
  return {
    ...registry.facts,
    ...(live && { mcp: await askServers(call, project, workspace) }),
    ...(tests && { coverage: await runPolicyTests(call, project, workspace) }),
    ...(!tests && sound && options.strict === true && { coverage: new Map() }),
  }
}

interface Asked {
  /** The findings in the light of what was published. */
  readonly known: readonly Diagnostic[]
  readonly facts: Partial<LintOptions>
}

/** Asking a registry needs the whole server or a connection to it. */
async function askRegistry(
  call: Call,
  project: Project,
  workspace: Workspace,
  options: LintOptions,
  notebook: Notebook,
  findings: readonly Diagnostic[],
): Promise<Asked> {
  const [{ withOperator }, { loosenings }] = await Promise.all([import('../operator.ts'), import('../lint-facts.ts')])
  return await withOperator(project, call, async (operator) => {
    const known = (await notebook.fetch(operator)) ? check(workspace, options) : findings
    return {
      known,
      facts: {
        server: await serverFacts(operator),
        ...(isSound(options, known) && { loosened: await loosenings(project, workspace, operator) }),
        ...(await locksFor(project, () => workspace, options, known, operator)),
      },
    }
  })
}

function unfocused(workspace: Workspace): Workspace {
  const { focus: _, ...whole } = workspace
  return whole
}

/** Tests are run, and versions compared, on what compiles. */
const isSound = (options: LintOptions, findings: readonly Diagnostic[]): boolean =>
  options.crossFile !== false && !findings.some(({ severity }) => severity === 'error')

/** How the locks that findings speak of are written anew, where nothing else is in the way. */
async function locksFor(
  project: Project,
  whole: () => Workspace | Promise<Workspace>,
  options: LintOptions,
  findings: readonly Diagnostic[],
  operator?: Operator,
): Promise<Partial<LintOptions> | undefined> {
  const stale = findings.filter(({ rule }) => ABOUT_LOCK.has(rule))
  if (stale.length === 0 || findings.some(({ rule, severity }) => severity === 'error' && !ABOUT_LOCK.has(rule)))
    return undefined
  const { freshLocks } = await import('../lint-facts.ts')
  return { locks: await freshLocks(project, await whole(), stale, options.strict === true, operator) }
}

/** What writing the lock anew mends. */
const ABOUT_LOCK = new Set(['bundle/lock-missing', 'bundle/lock-drift'])

function configured(given: NonNullable<LintOptions['rules']>): NonNullable<LintOptions['rules']> {
  for (const name of Object.keys(given)) known(name)
  return given
}

function severities(given: readonly string[]): NonNullable<LintOptions['rules']> {
  return Object.fromEntries(
    given.map((text) => {
      const [name = '', severity = ''] = text.split('=')
      if (severity !== 'off' && severity !== 'warn' && severity !== 'error')
        throw fail('usage', { what: `--rule takes ID=off, ID=warn or ID=error, not "${text}".` })
      known(name)
      return [name, severity]
    }),
  )
}

/** @throws Failure `usage` for a name that no rule has */
function known(name: string): void {
  const names = rules.map((rule) => rule.name)
  if ((names as readonly string[]).includes(name)) return
  const near = nearest(name, names)
  throw fail('usage', { what: `There is no rule "${name}".` }, near ? { fix: `Did you mean ${near}?` } : {})
}

function told({ errors, warnings, files, fixable }: Summary, ms: number, fixed = 0): string {
  const mended = fixed > 0 ? `${fixed} fixed; ` : ''
  const more = fixable > 0 ? `; ${fixable} fixable with --fix` : ''
  return `${mended}${counted(errors, 'error')}, ${counted(warnings, 'warning')} in ${counted(files, 'file')} (${Math.round(ms)} ms)${more}`
}

const counted = (number: number, one: string): string => `${number} ${number === 1 ? one : `${one}s`}`
