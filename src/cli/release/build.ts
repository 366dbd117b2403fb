/** Loads, lints and compiles a bundle, for `compile`, `publish`, `serve` and `dev`. */
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import type { UnpackedArchive } from '../../compile/package/archive.ts'
import { compileClosure, type CompileResult } from '../../compile/compile.ts'
import { concernsClosure } from '../../compile/scope.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import { lintWorkspace } from '../../documents/lint/lint.ts'
import { loadFiles, loadWorkspace } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { AgentSnapshot, CompiledBundle } from '../../spec/snapshot.ts'
import type { McpToolLister } from '../../tools/mcp/mcp-listing.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { withOperatorOf } from '../project/server/operator.ts'
import type { Project } from '../project/project.ts'
import { createFetchedRegistry, hasRegistry, lookupOf } from '../project/registry.ts'
import { lintOptionsOf } from '../project/lint-options.ts'
import { findMissingHandlers } from '../project/missing-handlers.ts'

export interface BundleBuild {
  readonly workspace: Workspace
  /** What lint and compile found in the closure, sorted as they do. */
  readonly findings: readonly Diagnostic[]
  /** Absent where a finding is an error; with `despiteErrors`, only where compiling failed. */
  readonly compiled?: CompileResult
  /** Compiles the same documents again, as another prerelease or from another root (a path in the workspace), without reading or linting them again. */
  readonly compileAs?: (prerelease: string | undefined, root?: string) => Promise<BundleBuild>
}

export interface BuildOptions {
  readonly project: Project
  /** Absolute: a document, or a directory with one root. */
  readonly path: string
  /** Looks up published versions; absent = there are none. */
  readonly operator?: OperatorClient
  readonly strict?: boolean
  /** Appended to the versions of the documents: `dev.1` makes 1.2.0 into 1.2.0-dev.1. */
  readonly prerelease?: string
  /** Id of a registry member to resolve again, ignoring the lock. */
  readonly update?: string
  /** Lists the tools of MCP servers to pin them; absent = the lock's pins stay. */
  readonly askMcp?: McpToolLister
  /** Texts used instead of files, by path in the workspace. */
  readonly overlay?: Readonly<Record<string, string>>
  /** Used instead of `path`. */
  readonly archive?: UnpackedArchive
  /** Compiles as far as possible in spite of lint errors: for questions, never for publishing. */
  readonly despiteErrors?: boolean
}

/** @throws Failure `no_documents` */
export async function buildBundle({
  project,
  path,
  operator,
  strict = false,
  prerelease,
  update,
  askMcp,
  overlay,
  archive,
  despiteErrors = false,
}: BuildOptions): Promise<BundleBuild> {
  const { workspace, inside, guardrails } = archive
    ? await openArchive(project, archive)
    : await openDirectory(project, path, overlay)
  if (workspace.documents.length === 0 && workspace.findings.length === 0) throw fail('no_documents', { where: path })
  const registry = createFetchedRegistry()
  if (operator) await registry.fetch(operator, registry.unknown(workspace))
  const configured = lintOptionsOf({ ...project.config, guardrails })
  const options = {
    ...configured,
    strict: strict || configured.strict === true,
    published: registry,
    missingHandlers: await findMissingHandlers(project),
  }
  const findings = lintWorkspace(workspace, options)
  const compileAs = async (suffix: string | undefined, root = inside): Promise<BundleBuild> => {
    const found = findings.filter(concernsClosure({ workspace, root, guardrails: options.guardrails ?? [] }))
    if (!despiteErrors && found.some(({ severity }) => severity === 'error')) return { workspace, findings: found }
    const compiled = await compileClosure({
      workspace,
      root,
      published: lookupOf(operator),
      strict,
      guardrails,
      ...(suffix !== undefined && { prerelease: suffix }),
      ...(update !== undefined && { update }),
      ...(askMcp && { askMcp }),
    })
    // Compile adds what only the registry, MCP servers and the whole bundle show. In spite of errors it may meet one of them again.
    const known = new Set(despiteErrors ? found.map(keyOf) : [])
    const all = [...found, ...compiled.findings.filter((each) => !known.has(keyOf(each)))]
    return compiled.bundle ? { workspace, findings: all, compiled, compileAs } : { workspace, findings: all }
  }
  return await compileAs(prerelease)
}

/** Builds with the published versions, where there may be any. */
export async function buildWithRegistry(
  call: Pick<CommandContext, 'io'>,
  options: Omit<BuildOptions, 'operator'>,
): Promise<BundleBuild> {
  if (!hasRegistry(options.project)) return await buildBundle(options)
  return await withOperatorOf(options.project, call, (operator) => buildBundle({ ...options, operator }))
}

const keyOf = ({ rule, severity, path, range }: Diagnostic): string =>
  `${rule} ${severity} ${path} ${range.start.offset}`

interface OpenedBundle {
  readonly workspace: Workspace
  /** Path of the root in the workspace. */
  readonly inside: string
  readonly guardrails: readonly string[]
}

async function openDirectory(project: Project, path: string, overlay: BuildOptions['overlay']): Promise<OpenedBundle> {
  const { include, guardrails = [] } = project.config
  const { root, inside } = await rootOf(project, path)
  const workspace = await loadWorkspace(root, {
    ...(include && root === project.directory && { include }),
    ...(overlay && { overlay }),
  })
  return { workspace, inside, guardrails }
}

/** An archive comes without a project: the guardrails of the publishing project are added to it. */
async function openArchive({ directory, config }: Project, { root, files }: UnpackedArchive): Promise<OpenedBundle> {
  const { guardrails = [] } = config
  if (guardrails.length === 0) return { workspace: loadFiles(Object.fromEntries(files)), inside: root, guardrails }
  const rules = await Promise.all(
    guardrails.map(async (path) => [`guardrails/${path}`, await readGuardrail(directory, path)] as const),
  )
  const inner = [...files].map(([path, bytes]) => [`bundle/${path}`, bytes] as const)
  return {
    workspace: loadFiles(Object.fromEntries([...inner, ...rules])),
    inside: `bundle/${root}`,
    guardrails: rules.map(([path]) => path),
  }
}

async function readGuardrail(directory: string, path: string): Promise<Uint8Array> {
  try {
    return await readFile(join(directory, path))
  } catch (cause) {
    throw fail('config_invalid', { what: `guardrails names "${path}", which cannot be read.` }, { cause })
  }
}

/** The workspace is the project's directory where the path lies in it, else the path's own directory. */
async function rootOf(project: Project, path: string): Promise<{ readonly root: string; readonly inside: string }> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw fail('no_documents', { where: path })
  const directory = found.isDirectory() ? path : dirname(path)
  const fromProject = relative(project.directory, path)
  const root = fromProject.startsWith('..') || resolve(fromProject) === fromProject ? directory : project.directory
  return { root, inside: relative(root, path).replaceAll('\\', '/') }
}

/**
 * The agent of a compiled bundle that is named, else its root.
 * @throws Failure `not_found`
 */
export function compiledAgentOf(
  { root, agents }: Pick<CompiledBundle, 'root' | 'agents'>,
  given?: string,
): AgentSnapshot {
  const name = given?.split('@')[0] ?? root
  const found = agents.find(({ id }) => id === name)
  if (found) return found
  const ids = agents.map((each) => each.id)
  throw fail('not_found', { what: `agent ${name ?? 'at all'}` }, { fix: suggestWord(name ?? '', ids) })
}
