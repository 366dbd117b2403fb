import { resolve } from 'node:path'
import type { StartRunResponse } from '../../../spec/api.ts'
import type { CommandContext } from '../../shell/command.ts'
import { readDecisions } from '../../runs/decide-file.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import { followToOutcome } from './follow-run.ts'
import { readFollowOptions } from '../../runs/follow-options.ts'
import { readInput, type InputContract } from '../../runs/input.ts'
import { withOperator, type OperatorClient } from '../../project/operator.ts'
import type { FollowAnswer } from '../../runs/outcome.ts'
import { openProject, type Project } from '../../project/project.ts'
import { agentIdFrom, agentOf, splitVersion } from '../../project/reference.ts'
import { readServerFile } from '../../project/server-file.ts'
import { readRehearsal } from '../../scenario/rehearsal.ts'
import { saveSnapshot } from '../../release/snapshots.ts'
import { givenKey, openAgentTarget, type ServerTarget } from '../../project/target.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

export async function run(call: CommandContext<FollowAnswer | StartRunResponse>): Promise<number> {
  const { given, mode, out, signal } = call
  const project = await openProject(call)
  const following = readFollowOptions(call)
  const rehearsal = readRehearsal(call)
  const { name, version } = await readAgent(call, project)
  const target = await openAgentTarget(call, project, name)
  try {
    const { agentId, contract } = await describe(name, version, target, project)
    const input = await readInput(given.rest(1), given.text('input'), contract, target.client, call)
    const idempotencyKey = given.text('idempotency-key')
    const scriptedAnswers = await readDecisions(call, project, target)
    const started = rehearsal
      ? await operatorOf(target).call('POST /runs', { body: { agent: agentId, input, rehearsal } })
      : await target.client.startRun(
          agentId,
          { input },
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
    out.hint(`run ${runId.slice(-6)} · ${agent}`)
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
 * The agent by name; a version must be the deployed one. A path is published and deployed first, as `dev` does on a save.
 */
async function readAgent(
  call: CommandContext,
  project: Project,
): Promise<{ readonly name: string; readonly version?: string }> {
  const text = call.given.argument(0)!
  if (!/[/\\]|\.(?:ya?ml|json)$|^\.+$/.test(text)) return splitVersion(text)
  const running = await readServerFile(project.dataDirectory)
  if ((await givenKey(call, project)) !== undefined || running?.key === undefined)
    throw usageFailure(`Only svc dev runs a path such as ${text}.`, 'Start svc dev, or name the agent.')
  return await withOperator(project, call, async (operator) => {
    const { build, saved } = await saveSnapshot(project, resolve(call.cwd, text), operator)
    printFindings(call, build.findings, build.workspace)
    if (!saved) throw documentsFailure(build.findings, call)
    return { name: saved.agent }
  })
}

/** With only a key the input contract is unknown: values are sent as typed, and the server checks them. */
async function describe(
  name: string,
  version: string | undefined,
  { operator }: ServerTarget,
  project: Project,
): Promise<{ readonly agentId: string; readonly contract: InputContract }> {
  if (!operator) return { agentId: agentIdFrom(name, project.workspace), contract: { agent: name, version: '' } }
  const agent = await agentOf(name, operator)
  const deployed = agent.deployed?.versionLabel
  if (version !== undefined && deployed !== undefined && version !== deployed)
    throw usageFailure(
      `Runs of ${agent.name} execute ${deployed}, which is deployed, not ${version}.`,
      `svc deploy ${agent.name}@${version}`,
    )
  return {
    agentId: agent.agentId,
    contract: {
      agent: agent.name,
      version: agent.deployed?.versionLabel ?? '',
      ...(agent.inputContract !== undefined && { schema: agent.inputContract }),
    },
  }
}
