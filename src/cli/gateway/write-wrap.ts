/**
 * Writes what `svc gateway wrap` planned: documents, values, pins, the original, and last the client's file. Cut off before that, the client
 * is as it was, and the next wrap finds its own documents again. Source: docs/design/gate.md#clients-files
 */
import { join } from 'node:path'
import type { McpToolLister } from '../../tools/mcp/mcp-listing.ts'
import { toToolName } from '../../import/openapi-document.ts'
import type { ImportQuestion } from '../../import/import-plan.ts'
import { writeImport, type ImportedFile } from '../../import/write-import.ts'
import { writeUserFile } from '../../base/files/write-file.ts'
import { loadDocuments } from '../project/documents.ts'
import { readDotEnv, writeDotEnv } from '../project/dot-env.ts'
import { CONFIG_FILE } from '../../spec/project/config.ts'
import { openProject, type Project } from '../project/project.ts'
import { buildWithRegistry } from '../release/build.ts'
import { saveLock } from '../release/lock-file.ts'
import type { CommandContext } from '../shell/command.ts'
import { keepFile, type KeptFile } from './kept-file.ts'
import type { WrapPlan } from './plan-wrap.ts'

export interface WrittenWrap {
  readonly files: readonly ImportedFile[]
  readonly questions: readonly ImportQuestion[]
  /** Variables that have no value yet. */
  readonly unset: readonly string[]
  readonly isPinned: boolean
  /** The project has no other agents, so that `svc dev` finds this one. */
  readonly isAlone: boolean
  /** Of the Agent document, relative to the project. */
  readonly agentPath: string
}

export async function writeWrap(
  call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  project: Project,
  wrap: WrapPlan,
  kept: KeptFile,
): Promise<WrittenWrap> {
  const { plan } = wrap
  if (project.file === undefined)
    await writeUserFile(join(project.directory, CONFIG_FILE), `workspace: ${plan.namespace.replaceAll(/[._]/g, '-')}\n`)
  const owned = await openProject(call)
  const { files, questions } = await writeImport(owned, await loadDocuments(owned), plan)
  const values = await writeValues(owned, plan.values, call.io.env)
  const agentPath = files.find(({ id, path }) => id === wrap.agent && path.endsWith('.yaml'))!.path
  const { documents } = await loadDocuments(owned)
  const isAlone = documents.filter(({ kind }) => kind === 'Agent' || kind === 'Bundle').length === 1
  const isPinned = await pinTools(call, await openProject(call), agentPath, wrap)
  await keepFile(owned.dataDirectory, kept)
  await writeUserFile(kept.file, wrap.text)
  const known = new Set([...(await readDotEnv(owned.directory)).keys(), ...Object.keys(call.io.env)])
  return {
    files,
    questions: [...questions, ...values],
    unset: plan.variables.filter((name) => !known.has(name)),
    isPinned,
    isAlone,
    agentPath,
  }
}

/** What stands in `.env` already stays. */
async function writeValues(
  { directory }: Project,
  values: WrapPlan['plan']['values'],
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly ImportQuestion[]> {
  const questions: ImportQuestion[] = []
  for (const [name, value] of values) {
    const before = env[name] ?? (await readDotEnv(directory)).get(name)?.value
    if (before === undefined) await writeDotEnv(directory, name, value)
    else if (before !== value)
      questions.push({ path: '.env', what: `${name} has another value than in the client's file; it stays` })
  }
  return questions
}

/** The servers were asked already, so their tools are pinned as they were listed. */
async function pinTools(
  call: Pick<CommandContext, 'io'>,
  project: Project,
  agentPath: string,
  { listings }: WrapPlan,
): Promise<boolean> {
  const byName = new Map([...listings].map(([name, listing]) => [toToolName(name), listing]))
  const askMcp: McpToolLister = async (_, { name }) =>
    byName.get(name) ?? { problem: `MCP server "${name}" was not asked.` }
  const built = await buildWithRegistry(call, { project, path: join(project.directory, agentPath), askMcp })
  const lock = built.compiled?.lock
  if (lock) await saveLock(built, lock)
  return lock !== undefined
}
