/** Loads and lints the documents of a project, with facts of the registry, MCP servers and policy tests. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isFailure } from '../../base/failure.ts'
import type { Diagnostic, FindingFix } from '../../documents/text/diagnostic.ts'
import type { FileContents } from '../../documents/text/files.ts'
import type { LintFacts } from '../../documents/facts/rule.ts'
import { openLint, type LintOptions, type LintRun } from '../../documents/lint/lint.ts'
import { selectFiles } from '../../documents/workspace/load.ts'
import { isUnder } from '../../documents/text/paths.ts'
import { rules } from '../../documents/rules/index.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { CommandContext } from '../shell/command.ts'
import { countNoun } from '../shell/counted.ts'
import type { CheckedProject } from '../../documents/lint/fix-project.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { isPolicyTest } from '../../documents/workspace/test-file.ts'
import { findMissingHandlers } from '../project/missing-handlers.ts'
import { pathInProject } from '../project/project-path.ts'
import { TRUST_FILE, type Project } from '../project/project.ts'
import {
  createFetchedRegistry,
  hasRegistry,
  isServerNamed,
  serverFacts,
  type FetchedRegistry,
} from '../project/registry.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { lintOptionsOf, weakensEssential, WHY_ESSENTIAL } from '../project/lint-options.ts'
import { loadDocuments } from '../project/documents.ts'
import { ABOUT_LOCK } from '../release/lock-file.ts'

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
  readonly options: LintOptions
  readonly registry: FetchedRegistry
  /** False where contents differ from the files: policy tests, which read files, are not run then. */
  readonly isWritten: boolean
  /** Absent where nothing can have been published. */
  readonly operator?: OperatorClient
}

/**
 * Lints the documents once, with what the registry, the server, MCP servers and policy tests know about them.
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
  const registry = createFetchedRegistry(true)
  const options = { ...optionsOf(call, project), published: registry }
  const job: LintJob = { call, project, workspace, options, registry, isWritten }
  if (!hasRegistry(project)) return { workspace, findings: await lintWithFacts(job) }
  const { withOperatorOf } = await import('../project/server/operator.ts')
  return await withOperatorOf(project, call, async (operator) => {
    await registry.fetch(operator, registry.unknown(workspace))
    return { workspace, findings: await lintWithFacts({ ...job, operator }) }
  })
}

/** Asks for the facts that the rules need, first those that are there whatever the rules find. */
async function lintWithFacts(job: LintJob): Promise<readonly Diagnostic[]> {
  const run = openLint(job.workspace, job.options)
  run.check(await outsideFacts(job, run))
  const findings = run.findings()
  const locks = await locksFor(job, findings)
  // The project is built for these facts, which needs documents without errors.
  if (job.options.crossFile !== false && !hasErrors(findings))
    run.check({ ...(await loosened(job, run)), ...(await testCoverage(job, run)) })
  return run.findings().map((each) => {
    const fix = ABOUT_LOCK.has(each.rule) ? locks.get(each.path) : undefined
    return fix ? { ...each, fix } : each
  })
}

const hasErrors = (findings: readonly Diagnostic[]): boolean => findings.some(({ severity }) => severity === 'error')

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
  for (const name of Object.keys(configured.rules ?? {})) requireRule(name)
  return {
    ...configured,
    strict: given.flag('strict') || configured.strict === true,
    rules: { ...configured.rules, ...severities(given.list('rule')) },
    crossFile: given.choice('cross-file') !== false,
  }
}

/** What the environment, the files of programs, the server and MCP servers say. */
async function outsideFacts(
  { call, project, workspace, operator }: LintJob,
  run: LintRun,
): Promise<Partial<LintFacts>> {
  const { given, io } = call
  return {
    ...(run.needs('missingHandlers') && { missingHandlers: await findMissingHandlers(project) }),
    ...(given.flag('check-env') && {
      env: await (await import('../project/dot-env.ts')).withDotEnv(io.env, project, workspace),
    }),
    ...(operator && run.needs('server') && isServerNamed(call, project) && { server: await serverFacts(operator) }),
    ...(run.needs('trust') && (await trustFacts(call, project))),
    // Rules that compare nothing with the listings read them, too.
    ...(given.flag('mcp-live') && {
      mcp: await (await import('./lint-facts.ts')).askServers(call, project, workspace),
    }),
  }
}

/** What a trust document beside the project says; one that cannot be read says nothing. */
async function trustFacts(
  { io, out }: CommandContext,
  { directory }: Project,
): Promise<Pick<LintFacts, 'trust'> | undefined> {
  const path = resolve(directory, TRUST_FILE)
  if (!existsSync(path)) return undefined
  try {
    return { trust: await (await import('./lint-facts.ts')).readTrustFacts(path, io.clock.now()) }
  } catch (error) {
    if (!isFailure(error)) throw error
    out.hint(`${error.message} svc trust check says more.`)
    return undefined
  }
}

/** What agents may do that their published predecessors might not. */
async function loosened({ project, workspace, operator }: LintJob, run: LintRun): Promise<Partial<LintFacts>> {
  if (!operator || !run.needs('loosened')) return {}
  const { loosenings } = await import('./lint-facts.ts')
  return { loosened: await loosenings(project, workspace, operator) }
}

/** What policy tests reach. Under `strict` a project without tests reaches nothing. */
async function testCoverage(
  { call, project, workspace, options, isWritten }: LintJob,
  run: LintRun,
): Promise<Partial<LintFacts>> {
  if (!run.needs('coverage')) return {}
  const hasTests = workspace.files.paths.some(isPolicyTest)
  // Errors in files that are not reported would stop the tests, too.
  if (hasTests && isWritten && !hasErrors(run.findings(true))) {
    const { runPolicyTests } = await import('./lint-facts.ts')
    return { coverage: await runPolicyTests(call, project, workspace) }
  }
  return options.strict === true && (isWritten || !hasTests) ? { coverage: new Map() } : {}
}

/** Fixes for outdated locks by the path of what they lock, where there are no other errors. */
async function locksFor(
  { project, workspace, options, operator }: LintJob,
  findings: readonly Diagnostic[],
): Promise<ReadonlyMap<string, FindingFix>> {
  const stale = findings.filter(({ rule }) => ABOUT_LOCK.has(rule))
  if (stale.length === 0 || hasErrors(findings.filter(({ rule }) => !ABOUT_LOCK.has(rule)))) return new Map()
  const { freshLocks } = await import('./lint-facts.ts')
  return await freshLocks(project, workspace, stale, options.strict === true, operator)
}

/** The severities of `--rule ID=warn`. */
function severities(given: readonly string[]): NonNullable<LintOptions['rules']> {
  return Object.fromEntries(
    given.map((text) => {
      const [name = '', severity = ''] = text.split('=')
      if (severity !== 'off' && severity !== 'warn' && severity !== 'error')
        throw usageFailure(`--rule takes ID=off, ID=warn or ID=error, not "${text}".`)
      requireRule(name)
      if (weakensEssential(name, severity)) throw usageFailure(`--rule sets ${text}: ${WHY_ESSENTIAL}`)
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
