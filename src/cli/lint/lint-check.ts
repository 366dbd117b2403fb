/** Loads and lints the documents of a project, with facts of the registry, MCP servers and policy tests. */
import { resolve } from 'node:path'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { FileContents } from '../../documents/text/files.ts'
import { lintWorkspace, type LintOptions } from '../../documents/lint/lint.ts'
import { selectFiles } from '../../documents/workspace/load.ts'
import { isUnder } from '../../documents/text/paths.ts'
import { rules } from '../../documents/rules/index.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { CommandContext } from '../shell/command.ts'
import { countNoun } from '../shell/counted.ts'
import type { CheckedProject } from './lint-fix.ts'
import { suggestWord } from '../shell/nearest.ts'
import type { OperatorClient } from '../project/server/operator.ts'
import { isPolicyTest } from '../pages/test-file.ts'
import { pathInProject } from '../project/project-path.ts'
import type { Project } from '../project/project.ts'
import {
  createRecordingRegistry,
  hasRegistry,
  isServerNamed,
  serverFacts,
  type RecordingRegistry,
} from '../project/registry.ts'
import { usageFailure } from '../shell/usage-failure.ts'
import { lintOptionsOf, loadDocuments } from '../project/documents.ts'

/** A document from standard input. */
export interface VirtualDocument {
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * @param texts contents used instead of files, by path
 * @param isWritten false where `texts` differ from the files, so that policy tests, which read files, are not run
 */
export async function checkDocuments(
  call: CommandContext,
  project: Project,
  input: VirtualDocument | undefined,
  texts: FileContents,
  isWritten: boolean,
): Promise<CheckedProject> {
  const { given, io } = call
  const workspace = await loadNamed(call, project, input, texts)
  const registry = createRecordingRegistry(true)
  const env = given.flag('check-env')
    ? await (await import('../project/dot-env.ts')).withDotEnv(io.env, project.directory, workspace)
    : undefined
  const options = { ...optionsOf(call, project), published: registry, ...(env && { env }) }
  const findings = lintWorkspace(workspace, options)
  const facts = await factsFor(call, project, workspace, options, registry, findings, isWritten)
  return { workspace, findings: facts ? lintWorkspace(workspace, { ...options, ...facts }) : findings }
}

/** Loads the whole project; only the named paths are reported on. Standard input replaces a file. */
async function loadNamed(
  { given, cwd, out, mode }: CommandContext,
  project: Project,
  input: VirtualDocument | undefined,
  overlay: FileContents,
): Promise<Workspace> {
  const named = given.rest(0).map((path) => pathInProject(project, resolve(cwd, path)))
  const wanted = input ? [input.path] : named
  const base = given.text('changed')
  if (base === undefined) return await loadDocuments(project, { overlay, ...(wanted.length > 0 && { focus: wanted }) })
  const [{ changedSince }, { affectedFiles }] = await Promise.all([
    import('../files/git.ts'),
    import('../../documents/lint/dependents.ts'),
  ])
  const whole = await loadDocuments(project, { overlay })
  const { focus } = selectFiles(whole.files, wanted.length > 0 ? { focus: wanted } : {})
  const { paths: changed, before } = await changedSince(project.directory, base, (path) =>
    /\.(?:ya?ml|json)$/.test(path),
  )
  // Documents that referred to a deleted or renamed one are affected, too.
  const former =
    Object.keys(before).length > 0 ? await loadDocuments(project, { overlay: { ...overlay, ...before } }) : whole
  const affected = [...new Set([former, whole].flatMap((each) => affectedFiles(each, changed)))]
    .sort()
    .filter(
      (path) =>
        whole.files.has(path) && (focus === undefined || focus.some((each) => path === each || isUnder(each, path))),
    )
  const documents = affected.filter((path) => whole.read.includes(path))
  if (!mode.json && Object.keys(overlay).length === 0)
    out.hint(
      `${documents.length} of ${whole.read.length} files affected by ${countNoun(changed.length, 'changed file')}`,
    )
  // A file that is no document is checked through the documents that name it.
  return { ...whole, focus: affected }
}

function optionsOf({ given }: CommandContext, { config }: Project): LintOptions {
  const configured = lintOptionsOf(config)
  return {
    ...configured,
    strict: given.flag('strict') || configured.strict === true,
    rules: { ...knownRules(configured.rules ?? {}), ...severities(given.list('rule')) },
    crossFile: given.choice('cross-file') !== false,
  }
}

/** Facts for a second lint pass; undefined where there are none. */
async function factsFor(
  call: CommandContext,
  project: Project,
  workspace: Workspace,
  options: LintOptions,
  registry: RecordingRegistry,
  findings: readonly Diagnostic[],
  isWritten: boolean,
): Promise<Partial<LintOptions> | undefined> {
  const { known, facts } = hasRegistry(project)
    ? await askRegistry(call, project, workspace, options, registry, findings)
    : { known: findings, facts: await locksFor(project, workspace, options, findings) }
  const live = call.given.flag('mcp-live')
  const sound = isSound(options, known)
  const hasTests = workspace.files.paths.some(isPolicyTest)
  const tests =
    sound &&
    options.rules?.['policy/untested'] !== 'off' &&
    hasTests &&
    isWritten &&
    // Errors in other files are not reported, but tests cannot run with them.
    isSound(options, workspace.focus === undefined ? known : lintWorkspace(unfocused(workspace), options))
  if (!live && !tests && options.strict !== true) return facts
  const { askServers, runPolicyTests } = await import('./lint-facts.ts')
  return {
    ...facts,
    ...(live && { mcp: await askServers(call, project, workspace) }),
    ...(tests && { coverage: await runPolicyTests(call, project, workspace) }),
    ...(!tests && sound && options.strict === true && (isWritten || !hasTests) && { coverage: new Map() }),
  }
}

interface KnownFindings {
  /** Findings that take published versions into account. */
  readonly known: readonly Diagnostic[]
  readonly facts: Partial<LintOptions>
}

/** Queries the registry, which needs a server or the data directory. */
async function askRegistry(
  call: CommandContext,
  project: Project,
  workspace: Workspace,
  options: LintOptions,
  registry: RecordingRegistry,
  findings: readonly Diagnostic[],
): Promise<KnownFindings> {
  const [{ withOperator }, { loosenings }] = await Promise.all([
    import('../project/server/operator.ts'),
    import('./lint-facts.ts'),
  ])
  return await withOperator(project, call, async (operator) => {
    const known = (await registry.fetch(operator)) ? lintWorkspace(workspace, options) : findings
    return {
      known,
      facts: {
        ...(isServerNamed(call, project) && { server: await serverFacts(operator) }),
        ...(isSound(options, known) && { loosened: await loosenings(project, workspace, operator) }),
        ...(await locksFor(project, workspace, options, known, operator)),
      },
    }
  })
}

function unfocused(workspace: Workspace): Workspace {
  const { focus: _, ...whole } = workspace
  return whole
}

/** True where the documents compile, so that tests can run and versions be compared. */
const isSound = (options: LintOptions, findings: readonly Diagnostic[]): boolean =>
  options.crossFile !== false && !findings.some(({ severity }) => severity === 'error')

/** Fixes for outdated locks, where there are no other errors. */
async function locksFor(
  project: Project,
  workspace: Workspace,
  options: LintOptions,
  findings: readonly Diagnostic[],
  operator?: OperatorClient,
): Promise<Partial<LintOptions> | undefined> {
  const stale = findings.filter(({ rule }) => ABOUT_LOCK.has(rule))
  if (stale.length === 0 || findings.some(({ rule, severity }) => severity === 'error' && !ABOUT_LOCK.has(rule)))
    return undefined
  const { freshLocks } = await import('./lint-facts.ts')
  return { locks: await freshLocks(project, workspace, stale, options.strict === true, operator) }
}

/** Rules whose findings are fixed by writing the lock again. */
const ABOUT_LOCK = new Set(['bundle/lock-missing', 'bundle/lock-drift'])

function knownRules(given: NonNullable<LintOptions['rules']>): NonNullable<LintOptions['rules']> {
  for (const name of Object.keys(given)) known(name)
  return given
}

function severities(given: readonly string[]): NonNullable<LintOptions['rules']> {
  return Object.fromEntries(
    given.map((text) => {
      const [name = '', severity = ''] = text.split('=')
      if (severity !== 'off' && severity !== 'warn' && severity !== 'error')
        throw usageFailure(`--rule takes ID=off, ID=warn or ID=error, not "${text}".`)
      known(name)
      return [name, severity]
    }),
  )
}

/** @throws Failure `usage` for a name that no rule has */
function known(name: string): void {
  const names = rules.map((rule) => rule.name)
  if ((names as readonly string[]).includes(name)) return
  throw usageFailure(`There is no rule "${name}".`, suggestWord(name, names))
}
