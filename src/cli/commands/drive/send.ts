import { resolve } from 'node:path'
import { fileItem, type FileItem, type RunMessage } from '../../../client/index.ts'
import type { MessageAccepted } from '../../../spec/api.ts'
import type { CommandContext } from '../../shell/command.ts'
import { exitOfCode } from '../../shell/exit.ts'
import { followToOutcome } from './follow-run.ts'
import { metadataOf } from '../../project/metadata.ts'
import type { FollowAnswer } from '../../runs/outcome.ts'
import { openProject, type Project } from '../../project/project.ts'
import { openUserFile } from '../../files/read-file.ts'
import { runIdOf } from '../../project/reference.ts'
import { RefusedAnswer } from '../../shell/remote.ts'
import { openAgentTarget, withTarget, type ServerTarget } from '../../project/target.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

export async function send(call: CommandContext<FollowAnswer | MessageAccepted>): Promise<number> {
  const { given, mode, out, signal } = call
  const project = await openProject(call)
  return await withTarget(call, project, async (target) => {
    const runId = await runIdOf(given.argument(0)!, target.operator)
    const files = await attach(call, project, target, runId)
    const text = await textOf(call, files.length > 0)
    const metadata = metadataOf(given.list('metadata'))
    const message: RunMessage = {
      ...(text !== undefined && { text }),
      ...(files.length > 0 && { files }),
      ...(metadata && { metadata }),
    }
    const accepted = await target.answering.sendRunMessage(runId, message, {
      signal,
      path: (given.text('path') ?? 'messages') as 'input' | 'messages',
    })
    if (accepted.error !== undefined) throw new RefusedAnswer(accepted, exitOfCode(accepted.code))
    if (!given.flag('follow')) {
      if (mode.json) await out.json(accepted)
      out.hint('sent; the run continues')
      return 0
    }
    out.hint('sent; the run continues')
    const onTask = mode.interactive ? 'prompt' : 'exit'
    const options = { runId, onTask, show: 'none', events: false } as const
    return await followToOutcome(call, { ...target, agent: given.argument(0)! }, options)
  })
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
  const keyed = operator && (await openAgentTarget(call, project, (await client.getRun(runId)).agentId!))
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

/** The reply: the argument, standard input for `-`, otherwise typed by a person. Optional with files. */
async function textOf({ given, mode, io, signal }: CommandContext, hasFiles: boolean): Promise<string | undefined> {
  const typed = given.argument(1)
  if (typed === '-') return (await io.stdin.text()).trimEnd()
  if (typed !== undefined || hasFiles) return typed
  if (!mode.interactive)
    throw usageFailure('There is no reply to send.', 'svc send RUN TEXT, or - to read standard input')
  return await io.prompts.text('Reply:', signal)
}
