/**
 * Collects facts for `svc lint` that are not in the documents: tools of MCP servers, results of policy tests, published
 * versions.
 */
import { join } from 'node:path'
import type { Instant } from '../../base/clock.ts'
import { isFailure } from '../../base/failure.ts'
import type { CompileResult } from '../../compile/compile.ts'
import type { Diagnostic, FindingFix } from '../../documents/text/diagnostic.ts'
import type { Document } from '../../documents/text/document.ts'
import type { KnownLoosening, LintFacts } from '../../documents/facts/rule.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { isPolicyTest } from '../../documents/workspace/test-file.ts'
import type { McpServer } from '../../spec/document.ts'
import type { ToolListing } from '../../tools/mcp/listed-tool.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { TRUST_FILE, type Project } from '../project/project.ts'

/** Asks every server of every agent at once, with the credentials of the agent. */
export async function askServers(
  call: CommandContext,
  project: Project,
  workspace: Workspace,
): Promise<LintFacts['mcp']> {
  const { createAskMcp, withMcpSpinner } = await import('../release/ask-mcp.ts')
  const { asKind } = await import('../../documents/text/document.ts')
  const ask = withMcpSpinner(call, await createAskMcp(call, project))
  const asked = workspace.documents.map(async (document): Promise<[Document, Map<string, ToolListing>]> => {
    const agent = asKind(document, 'Agent')
    const { secrets = {}, spec } = agent ?? {}
    const owner = { id: document.identity?.id ?? document.path, secrets }
    const answers = (spec?.mcp_servers ?? []).map(
      async (server: McpServer) => [server.name, await ask(owner, server)] as const,
    )
    return [document, new Map(await Promise.all(answers))]
  })
  return new Map(await Promise.all(asked))
}

/** What the trust document beside a project says. @throws Failure `trust_unreadable` */
export async function readTrustFacts(path: string, now: Instant): Promise<LintFacts['trust']> {
  const [{ readTrustFile }, { findLoneReleasers }] = await Promise.all([
    import('../trust/trust-file.ts'),
    import('../../spec/trust/separation.ts'),
  ])
  const { document } = await readTrustFile(path, TRUST_FILE)
  return {
    file: TRUST_FILE,
    roles: new Set(document.people.flatMap(({ roles }) => roles)),
    loneReleasers: (id) => findLoneReleasers(document, id, now),
  }
}

/** Runs the policy tests of a project without errors to measure their coverage. Tests that cannot be run cover nothing. */
export async function runPolicyTests(
  call: CommandContext,
  project: Project,
  { files }: Workspace,
): Promise<LintFacts['coverage']> {
  const [{ readPolicyTests }, { createCoverageCollector }, { createCasePreparer, decideCase }] = await Promise.all([
    import('../policy/case-file.ts'),
    import('../policy/coverage.ts'),
    import('../policy/run-cases.ts'),
  ])
  const [ask, collector] = [createCasePreparer(call), createCoverageCollector()]
  const reached = new Set<string>()
  for (const path of files.paths.filter(isPolicyTest)) {
    const file = join(project.directory, path)
    for (const test of readPolicyTests(new TextDecoder().decode(files.read(path)), path).tests)
      try {
        const asked = await ask.of(test, file)
        collector.addSet(asked.subject.policies, asked.places)
        for (const each of test.calls) {
          const { explanation } = decideCase(asked, each, collector, call.io.clock.now())
          for (const { policy, version } of explanation?.policies ?? []) reached.add(`${policy}@${version}`)
        }
      } catch (error) {
        if (!isFailure(error)) throw error
      }
  }
  const policies = collector.result().policies.filter(({ id }) => reached.has(id))
  return new Map(policies.map(({ id, leaves }) => [id, leaves.filter(({ missing }) => missing.length > 0)]))
}

/** The authority that publishing the project's bundles would add to the published versions. */
export async function loosenings(
  project: Project,
  workspace: Workspace,
  operator: OperatorClient,
): Promise<LintFacts['loosened']> {
  const [compile, { planOf }] = await Promise.all([
    compilerOf(project, workspace, operator),
    import('../release/plan.ts'),
  ])
  const found: KnownLoosening[] = []
  for (const { path } of workspace.documents.filter(({ kind }) => kind === 'Bundle')) {
    const { bundle } = await compile(path)
    if (!bundle) continue
    const { changes } = await planOf(operator, bundle)
    for (const { widens, kind, agent, tool, say, path: place } of changes)
      if (widens && LOOSER.test(kind))
        found.push({
          agent,
          change: tool === undefined || say.includes(tool) ? say : `${tool}: ${say}`,
          ...(place !== null && { place }),
        })
  }
  return found
}

/** Only changed decisions: other rules report new tools and changed classes. */
const LOOSER = /^(?:authority\.widened|gate\.removed|default_policy\.removed|boundary\.removed)$/

/** The locks that fix findings, as `svc compile` would write them. */
export async function freshLocks(
  project: Project,
  workspace: Workspace,
  findings: readonly Diagnostic[],
  strict: boolean,
  operator?: OperatorClient,
): Promise<ReadonlyMap<string, FindingFix>> {
  const [compile, { writeLock }] = await Promise.all([
    compilerOf(project, workspace, operator, strict),
    import('../../compile/state/lock-file.ts'),
  ])
  const locks = new Map<string, FindingFix>()
  for (const root of new Set(findings.map(({ path }) => path))) {
    const { lock, lockPath } = await compile(root)
    if (lock === undefined || lockPath === undefined) continue
    const source = workspace.source(lockPath)
    const range = source.span(0, source.text.length)
    locks.set(root, {
      description: 'Write svc.lock as `svc compile` does.',
      edits: [{ path: lockPath, range, text: writeLock(lock) }],
    })
  }
  return locks
}

/** Compiles documents of a workspace that was linted, by their paths. */
async function compilerOf(
  { config: { guardrails = [] } }: Project,
  workspace: Workspace,
  operator: OperatorClient | undefined,
  strict = false,
): Promise<(root: string) => Promise<CompileResult>> {
  const [{ compileClosure }, { lookupOf }] = await Promise.all([
    import('../../compile/compile.ts'),
    import('../project/registry.ts'),
  ])
  return (root) => compileClosure({ workspace, root, published: lookupOf(operator), guardrails, strict })
}
