/** The versions that are evaluated: the documents of the workspace, those of a git revision, or a published version. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { ComparedClosure } from '../../authority/closure.ts'
import type { AgentSnapshot, CompiledBundle } from '../../spec/snapshot.ts'
import { filesAt } from '../files/git.ts'
import { openProject, type Project } from '../project/project.ts'
import { splitVersion } from '../project/reference.ts'
import { withOperatorOf } from '../project/server/operator.ts'
import { publishedClosure } from '../release/closures.ts'
import { createPreparation, prepareBundle } from '../release/prepare-scenario.ts'
import type { CommandContext } from '../shell/command.ts'
import type { EvalSide } from './evaluate.ts'

/** @param dataset absolute; the nearest bundle above it is meant where a case names no agent */
export function workspaceSide(call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>, dataset: string): EvalSide {
  const prepare = createPreparation(call, { record: false, isEvaluation: true })
  return { name: 'workspace', prepare: (scenario) => prepare(scenario, dataset, 0) }
}

/** A side, and what ends it. */
export interface OpenSide {
  readonly side: EvalSide
  close(): void
}

/**
 * @param against `namespace.name@1.2.0`, a published version, else a git revision
 * @throws Failure `not_found`, `usage` for a revision that git does not know
 */
export async function openSideBefore(
  call: CommandContext,
  project: Project,
  dataset: string,
  against: string,
): Promise<OpenSide> {
  return PUBLISHED.test(against)
    ? await publishedSide(call, project, against)
    : await revisionSide(call, project, dataset, against)
}

const PUBLISHED = /^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+@\d/

async function publishedSide(call: CommandContext, project: Project, against: string): Promise<OpenSide> {
  const closure = await withOperatorOf(project, call, (operator) => publishedClosure(operator, against))
  const bundle = bundleOf(closure)
  return {
    side: {
      name: against,
      prepare: ({ agent = splitVersion(against).name, ...scenario }) =>
        prepareBundle({ ...scenario, agent }, bundle, { project, isEvaluation: true }),
    },
    close: () => undefined,
  }
}

/** The closure as compile writes one: children before those that pin them. */
function bundleOf({ root, agents }: ComparedClosure): CompiledBundle {
  const ordered = new Set<AgentSnapshot>()
  const add = (agent: AgentSnapshot): void => {
    for (const { id } of agent.agents) {
      const child = agents.get(id)
      if (child) add(child)
    }
    ordered.add(agent)
  }
  add(root)
  return { root: root.id, agents: [...ordered], documents: [], closureDigest: root.digest }
}

async function revisionSide(
  call: CommandContext,
  project: Project,
  dataset: string,
  revision: string,
): Promise<OpenSide> {
  const files = await filesAt(project.directory, revision)
  const directory = mkdtempSync(join(tmpdir(), 'svc-eval-'))
  const close = (): void => rmSync(directory, { recursive: true, force: true })
  try {
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), bytes)
    }
    const env = { ...call.io.env, SVC_CONFIG: undefined, SVC_DATA: undefined }
    const { config: _config, data: _data, ...globals } = call.globals
    const there = { cwd: directory, globals, io: { ...call.io, env } }
    // The project file of that revision, not one above the directory.
    await openProject(there)
    const inside = relative(project.directory, dataset)
    const near = join(directory, inside.startsWith('..') ? 'dataset.jsonl' : inside)
    return { side: { ...workspaceSide(there, near), name: revision }, close }
  } catch (error) {
    close()
    throw error
  }
}
