/** Prepares scenarios: compiles each bundle once and sets the model that the scenario names. */
import { appendFileSync, existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { readBoundedText } from '../../base/files/read-bounded.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { readModelScript } from '../../documents/facts/agents/model-script.ts'
import { createReplay, printExchange, readExchanges, type Cassette } from '../../spec/project/cassette.ts'
import { digestOfSnapshot, type CompiledBundle, type ScriptTurn, type AgentSnapshot } from '../../spec/snapshot.ts'
import { pathOfAgent } from '../project/agent-path.ts'
import { buildBundle, compiledAgentOf } from './build.ts'
import type { CommandContext } from '../shell/command.ts'
import { documentsFailure } from './findings.ts'
import { lateBoundOf } from './late-bound.ts'
import { projectServerOptions } from '../project/server/server-options.ts'
import { openProject, type Project } from '../project/project.ts'
import { readUserFile } from '../files/read-file.ts'
import { writeUserFile } from '../../base/files/write-file.ts'
import type { ScenarioProject } from '../../scenario/scenario-server.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { usageFailure } from '../../base/usage-failure.ts'

export interface PreparedScenario {
  readonly project: ScenarioProject
  readonly bundle: CompiledBundle
  /** The project's late-bound agents, deployed with it. */
  readonly lateBound: readonly CompiledBundle[]
  /** `namespace.name` of the agent that is started. */
  readonly agent: string
  /** Replays answers of models and tools, or records them. */
  readonly cassette: Cassette
}

/** @param index of the scenario among those of its file */
export type PrepareScenario = (scenario: Scenario, file: string, index: number) => Promise<PreparedScenario>

export interface CassetteDirectory {
  /** Directory of recordings that replace the model and tools of every scenario. */
  readonly directory?: string
  /** Record instead of replay. */
  readonly record: boolean
  /** For an evaluation: an outage of a model fails its run, which would otherwise wait for hours of virtual time. */
  readonly isEvaluation?: boolean
}

/** @returns a function that throws `documents_have_errors`, `not_found`, `usage` */
export function createPreparation(
  call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  tapes: CassetteDirectory,
): PrepareScenario {
  const built = new Map<string, Promise<Pick<PreparedScenario, 'bundle' | 'lateBound'>>>()
  return async (scenario, file, index) => {
    const project = await openProject(call, dirname(file))
    const path =
      scenario.bundle === undefined
        ? await pathOfAgent(project, scenario.agent, file)
        : pathOfBundle(project, scenario.bundle)
    const compiled = built.get(path) ?? compileAt(project, path)
    built.set(path, compiled)
    const { bundle, lateBound } = await compiled
    const agent = scenario.agent?.split('@')[0] ?? bundle.root
    if (agent === undefined) throw usageFailure(`${path} holds no agent to run.`)
    const found = compiledAgentOf(bundle, agent)
    const cassette = await openCassette(
      cassettePath(scenario, { ...tapes, cwd: call.cwd, project, file, index }),
      tapes.record,
    )
    const replace = await modelReplacer(scenario, found, [bundle, ...lateBound], { project, ...tapes })
    return {
      project: projectServerOptions(project),
      agent,
      cassette,
      lateBound: lateBound.map(replace),
      bundle: replace(bundle),
    }
  }
}

/** Prepares a scenario of a bundle that is compiled already. @throws Failure `not_found`, `usage` */
export async function prepareBundle(
  scenario: Scenario,
  compiled: CompiledBundle,
  { project, isEvaluation = false }: { readonly project: Project; readonly isEvaluation?: boolean },
): Promise<PreparedScenario> {
  const found = compiledAgentOf(compiled, scenario.agent)
  const replace = await modelReplacer(scenario, found, [compiled], { project, isEvaluation })
  return {
    project: projectServerOptions(project),
    agent: found.id,
    cassette: {},
    lateBound: [],
    bundle: replace(compiled),
  }
}

/** @throws Failure `not_found` */
function pathOfBundle({ directory }: Project, bundle: string): string {
  const path = resolve(directory, bundle)
  if (existsSync(path)) return path
  throw fail('not_found', { what: `bundle "${bundle}" below the directory of svc.config.yaml` })
}

async function compileAt(project: Project, path: string): Promise<Pick<PreparedScenario, 'bundle' | 'lateBound'>> {
  const built = await buildBundle({ project, path })
  const bundle = built.compiled?.bundle
  if (!bundle) throw documentsFailure(built.findings)
  const late = await lateBoundOf(built)
  if (late.findings.some(({ severity }) => severity === 'error')) throw documentsFailure(late.findings)
  // Snapshots contain everything that a run needs.
  return { bundle: { ...bundle, documents: [] }, lateBound: late.bundles.map((each) => ({ ...each, documents: [] })) }
}

/** Among `scripts`: the model that answers by the output schema, in place of a file. */
const AUTOMATIC = 'auto'

/** Puts the scripts that the scenario names in place of the models of their agents. */
async function modelReplacer(
  { model }: Scenario,
  started: AgentSnapshot,
  bundles: readonly CompiledBundle[],
  { project, isEvaluation = false }: { readonly project: Project; readonly isEvaluation?: boolean },
): Promise<(bundle: CompiledBundle) => CompiledBundle> {
  if (model === 'scripted' && !started.model.script)
    throw usageFailure(
      `The model of ${started.id} is ${started.model.provider}, which has no script.`,
      'Name a script file under `model`.',
    )
  const agents = bundles.flatMap((bundle) => bundle.agents)
  const models = new Map<string, Pick<AgentSnapshot['model'], 'provider' | 'script'>>()
  for (const [id, path] of Object.entries(scriptsOf(model, started))) {
    compiledAgentOf({ agents }, id)
    const isAutomatic = path === AUTOMATIC && typeof model === 'object'
    const script = isAutomatic ? undefined : await readScript(resolve(project.directory, path))
    models.set(id, script ? { provider: 'scripted', script } : { provider: AUTOMATIC })
  }
  return ({ agents: members, ...bundle }) => {
    const done = new Map<AgentSnapshot, AgentSnapshot>()
    // A parent pins its children by digest, so it changes with them.
    const replaced = (agent: AgentSnapshot): AgentSnapshot => {
      const known = done.get(agent)
      if (known) return known
      const { digest: _, ...rest } = agent
      const children = agent.agents.map((bound) => {
        const child = members.find(({ digest }) => digest === bound.digest)
        return child ? { ...bound, digest: replaced(child).digest } : bound
      })
      const model = models.get(agent.id)
      const changed = {
        ...rest,
        agents: children,
        ...(isEvaluation && { onOutage: 'fail' as const }),
        ...(model && { model: { name: agent.model.name, ...model } }),
      }
      const result = { ...changed, digest: digestOfSnapshot(changed) }
      done.set(agent, result)
      return result
    }
    return { ...bundle, agents: members.map(replaced) }
  }
}

function scriptsOf(model: Scenario['model'], started: AgentSnapshot): Readonly<Record<string, string>> {
  if (model === undefined || model === 'scripted') return {}
  if (typeof model === 'string') return { [started.id]: model }
  return 'scripts' in model ? model.scripts : {}
}

/** Absolute path of the scenario's recording; undefined where it has none. */
function cassettePath(
  { model }: Scenario,
  at: Pick<CassetteDirectory, 'directory'> & {
    readonly cwd: string
    readonly project: Project
    readonly file: string
    readonly index: number
  },
): string | undefined {
  if (at.directory !== undefined) {
    const name = relative(at.cwd, at.file).replaceAll(/^(?:\.\.[/\\])+|\.scenario\.ya?ml$/g, '')
    return join(at.directory, `${name}${at.index === 0 ? '' : `.${at.index + 1}`}.ndjson`)
  }
  return typeof model === 'object' && 'replay' in model ? resolve(at.project.directory, model.replay) : undefined
}

async function openCassette(path: string | undefined, record: boolean): Promise<Cassette> {
  if (path === undefined) return {}
  if (record) {
    makeDirectory(dirname(path))
    await writeUserFile(path, '')
    return { record: (exchange) => appendFileSync(path, printExchange(exchange)) }
  }
  const text = existsSync(path) ? readBoundedText(path) : undefined
  if (text === undefined) throw fail('not_found', { what: `recording ${path}` }, { fix: 'Add --record to make it.' })
  return { replay: createReplay(readExchanges(text)) }
}

async function readScript(path: string): Promise<readonly ScriptTurn[]> {
  if (!(await stat(path).catch(() => undefined))?.isFile()) throw fail('not_found', { what: `script ${path}` })
  const script = readModelScript({ path, text: (await readUserFile(path)).toString('utf8') })
  if ('problem' in script) throw usageFailure(script.problem)
  return script.turns
}
