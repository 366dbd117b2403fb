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
import { findMissingHandlers } from '../project/missing-handlers.ts'
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

/** One lint of a project: what is checked, and how. */
interface LintJob {
  readonly call: CommandContext
  readonly project: Project
  readonly workspace: Workspace
  readonly options: LintOptions & { readonly published: RecordingRegistry }
  /** False where contents differ from the files: policy tests, which read files, are not run then. */
  readonly isWritten: boolean
}

/**
 * Lints the documents, then once more with what the registry, MCP servers and policy tests add, where they add anything.
 * @param texts contents used instead of files, by path
 * @param isWritten false where `texts` differ from the files
 */
export async function checkDocuments(
  call: CommandContext,
  project: Project,
  input: VirtualDocument | undefined,
  texts: FileContents,
  isWritten: boolean,
): Promise<CheckedProject> {
  const workspace = await loadNamed(call, project, input, texts)
  const options = await optionsOf(call, project, workspace)
  const job: LintJob = { call, project, workspace, options, isWritten }
  const { findings, facts } = await askRegistry(job, lintWorkspace(workspace, options))
  const all = { ...facts, ...(await listedTools(job)), ...(await testCoverage(job, findings)) }
  const isMore = Object.keys(all).length > 0
  return { workspace, findings: isMore ? lintWorkspace(workspace, { ...options, ...all }) : findings }
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

async function optionsOf(
  { given, io }: CommandContext,
  project: Project,
  workspace: Workspace,
): Promise<LintJob['options']> {
  const { config, directory } = project
  const configured = lintOptionsOf(config)
  for (const name of Object.keys(configured.rules ?? {})) requireRule(name)
  return {
    ...configured,
    strict: given.flag('strict') || configured.strict === true,
    rules: { ...configured.rules, ...severities(given.list('rule')) },
    crossFile: given.choice('cross-file') !== false,
    published: createRecordingRegistry(true),
    missingHandlers: await findMissingHandlers(project),
    ...(given.flag('check-env') && {
      env: await (await import('../project/dot-env.ts')).withDotEnv(io.env, directory, workspace),
    }),
  }
}

/** Findings that take published versions into account, and facts for another pass. */
interface RegistryAnswer {
  readonly findings: readonly Diagnostic[]
  readonly facts: Partial<LintOptions>
}

/** Queries the registry, which needs a server or the data directory. */
async function askRegistry(job: LintJob, first: readonly Diagnostic[]): Promise<RegistryAnswer> {
  const { call, project, workspace, options } = job
  if (!hasRegistry(project)) return { findings: first, facts: await locksFor(job, first) }
  const [{ withOperator }, { loosenings }] = await Promise.all([
    import('../project/server/operator.ts'),
    import('./lint-facts.ts'),
  ])
  return await withOperator(project, call, async (operator) => {
    const findings = (await options.published.fetch(operator)) ? lintWorkspace(workspace, options) : first
    return {
      findings,
      facts: {
        ...(isServerNamed(call, project) && { server: await serverFacts(operator) }),
        ...(isSound(options, findings) && { loosened: await loosenings(project, workspace, operator) }),
        ...(await locksFor(job, findings, operator)),
      },
    }
  })
}

/** `--mcp-live`: the tools as the MCP servers list them now. */
async function listedTools({ call, project, workspace }: LintJob): Promise<Pick<LintOptions, 'mcp'>> {
  if (!call.given.flag('mcp-live')) return {}
  const { askServers } = await import('./lint-facts.ts')
  return { mcp: await askServers(call, project, workspace) }
}

/** What policy tests reach. Under `strict` a project without tests reaches nothing. */
async function testCoverage(
  { call, project, workspace, options, isWritten }: LintJob,
  findings: readonly Diagnostic[],
): Promise<Pick<LintOptions, 'coverage'>> {
  if (!isSound(options, findings)) return {}
  const hasTests = workspace.files.paths.some(isPolicyTest)
  const isWanted = hasTests && isWritten && options.rules?.['policy/untested'] !== 'off'
  // Errors in files that are not reported would stop the tests, too.
  if (isWanted && (workspace.focus === undefined || isSound(options, lintWorkspace(unfocused(workspace), options)))) {
    const { runPolicyTests } = await import('./lint-facts.ts')
    return { coverage: await runPolicyTests(call, project, workspace) }
  }
  return options.strict === true && (isWritten || !hasTests) ? { coverage: new Map() } : {}
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
  { project, workspace, options }: LintJob,
  findings: readonly Diagnostic[],
  operator?: OperatorClient,
): Promise<Pick<LintOptions, 'locks'>> {
  const stale = findings.filter(({ rule }) => ABOUT_LOCK.has(rule))
  if (stale.length === 0 || findings.some(({ rule, severity }) => severity === 'error' && !ABOUT_LOCK.has(rule)))
    return {}
  const { freshLocks } = await import('./lint-facts.ts')
  return { locks: await freshLocks(project, workspace, stale, options.strict === true, operator) }
}

/** Rules whose findings are fixed by writing the lock again. */
const ABOUT_LOCK = new Set(['bundle/lock-missing', 'bundle/lock-drift'])

/** The severities of `--rule ID=warn`. */
function severities(given: readonly string[]): NonNullable<LintOptions['rules']> {
  return Object.fromEntries(
    given.map((text) => {
      const [name = '', severity = ''] = text.split('=')
      if (severity !== 'off' && severity !== 'warn' && severity !== 'error')
        throw usageFailure(`--rule takes ID=off, ID=warn or ID=error, not "${text}".`)
      requireRule(name)
      return [name, severity]
    }),
  )
}

/** @throws Failure `usage` for a name that no rule has */
function requireRule(name: string): void {
  const names = rules.map((rule) => rule.name)
  if (!(names as readonly string[]).includes(name))
    throw usageFailure(`There is no rule "${name}".`, suggestWord(name, names))
}
