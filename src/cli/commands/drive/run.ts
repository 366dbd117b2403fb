import { resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { isUuid, toAgentId } from '../../../base/ids.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import type { StartRunResponse } from '../../../spec/api.ts'
import type { CommandContext } from '../../shell/command.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import type { readDecisions } from '../../runs/decide-file.ts'
import type { ScriptedAnswers } from '../../../scenario/decisions.ts'
import { followToOutcome } from './follow-run.ts'
import { readFollowOptions } from '../../runs/follow-options.ts'
import { readInput, type InputContract } from '../../runs/input.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import type { FollowAnswer } from '../../runs/outcome.ts'
import { openProject, type Project } from '../../project/project.ts'
import { resolveAgent, sessionIdOf, splitVersion } from '../../project/reference.ts'
import { readServerFile } from '../../project/server/running-server.ts'
import { readRehearsal } from '../../runs/rehearsal.ts'
import { openAgentTarget, type ServerTarget } from '../../project/server/target.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function run(call: CommandContext<FollowAnswer | StartRunResponse>): Promise<number> {
  const { given, mode, out, signal } = call
  const project = await openProject(call)
  const following = readFollowOptions(call)
  const rehearsal = readRehearsal(call)
  const { name, version } = await readAgent(call, project)
  const target = await openAgentTarget(project, call.io, name)
  try {
    const { agentId, contract, versionId } = await describe(name, version, target, project)
    const input = await readInput(given.rest(1), given.text('input'), contract, target.client, call)
    const idempotencyKey = given.text('idempotency-key')
    const scriptedAnswers = given.text('decide') === undefined ? undefined : await readAnswers(call, project, target)
    const session = await sessionToContinue(call, target)
    if (session !== undefined && rehearsal)
      throw usageFailure('--session cannot come with --model, --record or --replay.')
    const started = rehearsal
      ? await operatorOf(target).call('POST /runs', {
          body: { agent: agentId, input, rehearsal, ...(versionId !== undefined && { version: contract.version }) },
        })
      : // The operator may continue what any trigger started, and choose what no key may.
        await (session === undefined && versionId === undefined ? target.client : target.answering).startRun(
          agentId,
          {
            input,
            ...(session !== undefined && { sessionId: session }),
            ...(versionId !== undefined && { versionId }),
          },
          { signal, ...(idempotencyKey !== undefined && { idempotencyKey }) },
        )
    const { runId } = started
    if (given.flag('detach')) {
      if (mode.json) await out.json(started)
      else out.line(runId)
      out.hint(`follow it:  svc runs watch ${runId.slice(-6)}`)
      return 0
    }
    const agent = `${contract.agent}${contract.version && `@${contract.version}`}`
    out.hint(`run ${runId.slice(-6)} · ${agent}${versionId === undefined ? '' : ', which is not deployed'}`)
    // Follows as the operator if possible, because the trigger may hide its timeline from keys.
    const asOperator = { ...target, client: target.answering, agent }
    return await followToOutcome(call, asOperator, { ...following, runId, ...(scriptedAnswers && { scriptedAnswers }) })
  } finally {
    await target.close()
  }
}

function operatorOf({ operator }: ServerTarget): OperatorClient {
  if (operator) return operator
  throw usageFailure(
    'Only svc dev runs with another model, records or replays; a key reaches no such server.',
    'Leave out the key and the address.',
  )
}

/**
 * The agent by name, with the version that was asked for. A path is published and deployed first, as `dev` does on a save.
 */
async function readAgent(
  call: CommandContext,
  project: Project,
): Promise<{ readonly name: string; readonly version?: string }> {
  const text = call.given.required(0)
  if (!/[/\\]|\.(?:ya?ml|json)$|^\.+$/.test(text)) return splitVersion(text)
  const running = await readServerFile(project.dataDirectory)
  if ((await project.apiKey()) !== undefined || running?.key === undefined)
    throw usageFailure(`Only svc dev runs a path such as ${text}.`, 'Start svc dev, or name the agent.')
  // Loaded for a path alone: it brings lint and the compiler.
  const { saveSnapshot } = await import('../../release/snapshots.ts')
  return await withOperatorOf(project, call, async (operator) => {
    const { build, saved } = await saveSnapshot(project, resolve(call.cwd, text), operator)
    printFindings(call, build.findings, build.workspace)
    if (!saved) throw documentsFailure(build.findings, call)
    return { name: saved.agent }
  })
}

async function readAnswers(...given: Parameters<typeof readDecisions>): Promise<ScriptedAnswers | undefined> {
  const { readDecisions } = await import('../../runs/decide-file.ts')
  return await readDecisions(...given)
}

interface DescribedAgent {
  readonly agentId: string
  readonly contract: InputContract
  /** Set for a version that is not the deployed one. */
  readonly versionId?: string
}

/** The input contract of one version. */
async function contractOf(operator: OperatorClient, agent: string, version: string): Promise<{ schema?: JsonValue }> {
  const { inputContract } = await operator.call('GET /snapshot', { query: { agent, version } })
  return inputContract === undefined ? {} : { schema: inputContract }
}

/** The session of `--session`, by its full id. */
async function sessionToContinue(call: CommandContext, { operator }: ServerTarget): Promise<string | undefined> {
  const text = call.given.text('session')
  if (text === undefined) return undefined
  if (operator) return await sessionIdOf(text, operator)
  if (isUuid(text)) return text.toLowerCase()
  throw usageFailure(`With an API key a session is named by its full id, not by "${text}".`)
}

/** With only a key the input contract is unknown: values are sent as typed, and the server checks them. */
async function describe(
  name: string,
  version: string | undefined,
  { operator }: ServerTarget,
  project: Project,
): Promise<DescribedAgent> {
  if (!operator) {
    if (version !== undefined)
      throw usageFailure(
        `A key runs the deployed version, whichever it is, so ${name}@${version} cannot be asked for with one.`,
        'Leave out the version, or the key and the address.',
      )
    return { agentId: toAgentId(project.workspace, name), contract: { agent: name, version: '' } }
  }
  const agent = await resolveAgent(name, operator)
  const deployed = agent.deployed?.versionLabel
  const other = version === deployed ? undefined : version
  if (other !== undefined) {
    const { items } = await operator.call('GET /versions', { query: { agent: agent.agentId } })
    const found = items.find(({ versionLabel }) => versionLabel === other)
    if (!found) throw fail('not_found', { what: `version ${other}` }, { fix: `svc versions list ${agent.name}` })
    const { schema } = await contractOf(operator, agent.name, other)
    return {
      agentId: agent.agentId,
      versionId: found.agentVersionId,
      contract: { agent: agent.name, version: other, ...(schema !== undefined && { schema }) },
    }
  }
  return {
    agentId: agent.agentId,
    contract: {
      agent: agent.name,
      version: agent.deployed?.versionLabel ?? '',
      ...(agent.inputContract !== undefined && { schema: agent.inputContract }),
    },
  }
}
