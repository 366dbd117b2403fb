import { resolve } from 'node:path'
import { fileItem, type FileItem, type RunMessage, type RunStatus } from '../../../client/index.ts'
import { isJsonObject } from '../../../base/json/json.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { MessageAccepted, StartRunResponse } from '../../../spec/api.ts'
import type { CommandContext } from '../../shell/command.ts'
import { exitOfCode } from '../../shell/exit.ts'
import { answerCommand } from '../../runs/describe-answer.ts'
import { followToOutcome } from './follow-run.ts'
import { metadataOf } from '../../project/metadata.ts'
import type { FollowAnswer } from '../../runs/outcome.ts'
import { openProject, type Project } from '../../project/project.ts'
import { openUserFile } from '../../files/read-file.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import { RefusedAnswer } from '../../../client/remote-error.ts'
import { openAgentTarget, withTargetOf, type ServerTarget } from '../../project/server/target.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { onlyItem } from '../../../base/values/collections.ts'

export async function send(call: CommandContext<FollowAnswer | MessageAccepted | StartRunResponse>): Promise<number> {
  const { given, mode, out, signal } = call
  const project = await openProject(call)
  return await withTargetOf(project, call, async (target) => {
    const runId = await runIdOf(given.required(0), target.operator, 'WaitingForResponse')
    const steer = steerOf(call)
    const before = await target.client.getRun(runId)
    if (before.status === 'Completed' && steer === undefined) return await goOn(call, target, before)
    const files = await attach(call, project, target, runId)
    const text = await textOf(call, files.length > 0)
    const metadata = metadataOf(given.list('metadata'))
    const message: RunMessage = {
      ...(text !== undefined && { text }),
      ...(files.length > 0 && { files }),
      ...(metadata && { metadata }),
      ...(steer !== undefined && { steer }),
    }
    const accepted = await target.answering.sendRunMessage(runId, message, {
      signal,
      path: (given.text('path') ?? 'messages') as 'input' | 'messages',
    })
    if (accepted.error !== undefined) {
      const open = accepted.code === 'run_not_waiting' ? (before.pending ?? []) : []
      const [fix] = open.flatMap(({ kind, userTaskId }) => (userTaskId ? answerCommand(kind, userTaskId) : []))
      throw new RefusedAnswer(accepted, exitOfCode(accepted.code), fix)
    }
    out.hint(steer === undefined ? 'sent; the run continues' : SENT[`${steer}`])
    if (!given.flag('follow')) {
      if (mode.json) await out.json(accepted)
      return 0
    }
    return await follow(call, target, runId)
  })
}

const SENT = {
  true: 'sent; the run reads it before its next completion',
  interrupt: 'sent; a completion under way is dropped, and the run reads it before the next one',
} as const

/** How the text reaches a working run; undefined for a reply. */
function steerOf({ given }: CommandContext): RunMessage['steer'] {
  const [steer, interrupt] = [given.flag('steer'), given.flag('interrupt')]
  if (steer && interrupt) throw usageFailure('Give --steer or --interrupt, one of them.')
  return interrupt ? 'interrupt' : steer || undefined
}

async function follow(call: CommandContext<FollowAnswer>, target: ServerTarget, runId: string): Promise<number> {
  const onTask = call.mode.interactive ? 'prompt' : 'exit'
  const options = { runId, onTask, show: 'none', events: false } as const
  return await followToOutcome(call, { ...target, agent: call.given.required(0) }, options)
}

/** A completed run goes on with a new run of its session. */
async function goOn(
  call: CommandContext<FollowAnswer | StartRunResponse>,
  target: ServerTarget,
  { agentId, sessionId, runId }: RunStatus,
): Promise<number> {
  const { given, mode, out, signal } = call
  if (given.list('attach').length > 0)
    throw usageFailure(
      `Run ${shortId(runId)} is completed; files go into the input of the next one.`,
      `svc run AGENT --session ${sessionId} KEY@FILE`,
    )
  const text = await readReply(call, false)
  const input = { [await messageProperty(target, agentId!)]: text }
  const metadata = metadataOf(given.list('metadata')) as Record<string, string> | undefined
  const started = await target.answering.startRun(
    agentId!,
    { input, sessionId: sessionId!, ...(metadata && { metadata }) },
    { signal },
  )
  out.hint(`run ${shortId(runId)} was completed; run ${shortId(started.runId)} continues its session`)
  if (given.flag('follow')) return await follow(call, target, started.runId)
  if (mode.json) await out.json(started)
  else out.line(started.runId)
  return 0
}

/** The text of the input contract that is the message: one of the usual names, else the only one there is. */
async function messageProperty({ operator }: ServerTarget, agentId: string): Promise<string> {
  const { inputContract = null, name = agentId } = operator ? await resolveAgent(agentId, operator) : {}
  const properties = isJsonObject(inputContract) ? inputContract['properties'] : undefined
  if (!isJsonObject(properties)) return 'message'
  const texts = Object.keys(properties).filter((each) => {
    const property = properties[each]
    return isJsonObject(property) && property['type'] === 'string'
  })
  const usual = ['message', 'prompt', 'text', 'question', 'task'].find((each) => texts.includes(each))
  if (usual !== undefined) return usual
  const only = onlyItem(texts)
  if (only !== undefined) return only
  throw usageFailure(
    `The input contract of ${name} does not say which of its values a message is.`,
    `svc run ${name} --session SESSION KEY=TEXT`,
  )
}

/** Creates a key if none was given: the operator application has no route for uploads. */
async function attach(
  call: CommandContext,
  project: Project,
  { client, operator }: ServerTarget,
  runId: string,
): Promise<FileItem[]> {
  const paths = call.given.list('attach')
  if (paths.length === 0) return []
  const keyed = operator && (await openAgentTarget(project, call.io, (await client.getRun(runId)).agentId!))
  try {
    const files = []
    for (const path of paths)
      files.push(
        fileItem(
          await (keyed?.client ?? client).uploadWorkspaceFile(await openUserFile(resolve(call.cwd, path), path), {
            signal: call.signal,
          }),
        ),
      )
    return files
  } finally {
    await keyed?.close()
  }
}

/** The reply; optional with files. */
const textOf = async (call: CommandContext, hasFiles: boolean): Promise<string | undefined> =>
  hasFiles && call.given.argument(1) === undefined ? undefined : await readReply(call, hasFiles)

/** The reply: the argument, standard input for `-`, otherwise typed by a person. */
async function readReply({ given, mode, io, signal }: CommandContext, mayBeEmpty: boolean): Promise<string> {
  const typed = given.argument(1)
  if (typed === '-') return (await io.stdin.text()).trimEnd()
  if (typed?.trim() === '' && !mayBeEmpty) throw usageFailure('The reply is empty.', 'svc send RUN TEXT')
  if (typed !== undefined) return typed
  if (!mode.interactive)
    throw usageFailure('There is no reply to send.', 'svc send RUN TEXT, or - to read standard input')
  return await io.prompts.text('Reply:', signal)
}
