/** Closures of agents, built from documents or fetched from the registry. */
import { resolve } from 'node:path'
import type { BundleContents } from '../../compile/package/contents.ts'
import { closureInBundle, loadClosure, type ComparedClosure } from '../../authority/closure.ts'
import { packBundle } from '../../compile/package/pack.ts'
import { isArchivePath, openArchiveAt } from './archives.ts'
import { buildWithRegistry, type BundleBuild } from './build.ts'
import type { CommandContext } from '../shell/command.ts'
import { documentsFailure, printFindings } from './findings.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { Project } from '../project/project.ts'
import { resolveAgent, splitVersion } from '../project/reference.ts'
import { lookupOf, versionViews } from '../project/registry.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/** Builds a directory, a document, an archive or `-`. Published versions are looked up where there may be any. */
export async function buildAt(call: CommandContext, project: Project, path: string): Promise<BundleBuild> {
  const archive = isArchivePath(path)
    ? await openArchiveAt(call, path === '-' ? path : resolve(call.cwd, path))
    : undefined
  return await buildWithRegistry(call, { project, path: resolve(call.cwd, path), ...(archive && { archive }) })
}

/** The agent at a path with all that it pins, and the files that it was compiled from. */
export interface LocalClosure {
  readonly closure: ComparedClosure
  readonly files: BundleContents
}

/** @throws Failure `documents_have_errors`, `usage` where there is no agent */
export async function closureAt(call: CommandContext, project: Project, path: string): Promise<LocalClosure> {
  const { workspace, findings, compiled } = await buildAt(call, project, path)
  printFindings(
    call,
    findings.filter(({ severity }) => severity === 'error'),
    workspace,
  )
  if (!compiled?.bundle || !compiled.lock || compiled.document === undefined) throw documentsFailure(findings)
  const { bundle, lock, document } = compiled
  if (bundle.root === undefined) throw usageFailure(`${path} holds no agent to compare.`)
  return { closure: closureInBundle(bundle, bundle.root), files: packBundle(workspace, document, lock).files }
}

/** @param reference `namespace.name@1.2.0`; without a version the deployed one, else the newest @throws Failure `not_found` */
export async function publishedClosure(operator: OperatorClient, reference: string): Promise<ComparedClosure> {
  const { name, version } = splitVersion(reference)
  const { agentId, deployed } = await resolveAgent(name, operator)
  const newest = async () => (await versionViews(operator, agentId)).find(({ yanked }) => !yanked)?.versionLabel
  const wanted = version ?? deployed?.versionLabel ?? (await newest())
  const root = await operator.call('GET /snapshot', {
    query: { agent: agentId, ...(wanted !== undefined && { version: wanted }) },
  })
  return await loadClosure(root, (id, number) => lookupOf(operator).agent(id, number))
}
