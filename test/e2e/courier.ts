/**
 * The project `courier`: an agent that does one thing of every side-effect class, alone and through a sub-agent, and stops for
 * an approval and for a reply; and the world outside, which keeps the only book of what really happened.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { courierFiles } from './courier-files.ts'
import {
  deploy,
  serve,
  serveHere,
  svcJson,
  svc,
  writeProject,
  type Access,
  type Project,
  type RunningServer,
  type ServerProcess,
} from './binary.ts'

/** A call as it arrived. */
export interface Arrival {
  readonly tool: string
  readonly key: string
  readonly runId: string
}

export interface Courier {
  readonly project: Project
  readonly access: Access
  /** Every call that arrived, in order. */
  readonly arrivals: readonly Arrival[]
  /** @param more options of `svc serve`; of several servers each needs `--data` */
  serve(failpoint?: string, ...more: readonly string[]): Promise<ServerProcess>
  /** A server that nobody kills. */
  serveHere(...more: readonly string[]): Promise<RunningServer>
  /** Every operator's task that waits, decided by the book. */
  review: () => Promise<void>
  close(): Promise<void>
}

export interface CourierOptions {
  /** The class that `post` is said to have. */
  readonly classOfPost?: string
  /** Milliseconds that a call takes. */
  readonly callMs?: () => number
  /**
   * Time-out of a call. A call that a busy machine did not send in time is definitely not made, and the run goes on without
   * it: a test that counts calls gives them time.
   */
  readonly timeout?: string
  /** Of every command and server. */
  readonly env?: Readonly<Record<string, string>>
}

export async function openCourier({
  classOfPost = 'non_idempotent_write',
  callMs = () => 0,
  timeout = '1s',
  env = {},
}: CourierOptions = {}): Promise<Courier> {
  const arrivals: Arrival[] = []
  const world = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const call = JSON.parse(text) as {
        tool: string
        idempotency_key: string
        arguments: { idempotency_key?: string }
        run: { id: string }
      }
      if (call.tool === 'acme.find') {
        const key = call.arguments.idempotency_key
        response.end(JSON.stringify(arrivals.some((each) => each.key === key) ? { done: key } : {}))
        return
      }
      arrivals.push({ tool: call.tool, key: call.idempotency_key, runId: call.run.id })
      setTimeout(() => response.end(JSON.stringify({ done: call.idempotency_key })), callMs())
    })
  })
  await new Promise<void>((ready) => world.listen(0, '127.0.0.1', ready))
  const project = writeProject(
    courierFiles(classOfPost, `http://127.0.0.1:${(world.address() as AddressInfo).port}`, timeout),
  )
  const at = { cwd: project.directory, env }
  const access = await deploy(project, 'acme.courier', { uploads: true, env })
  return {
    project,
    access,
    arrivals,
    serve: (failpoint, ...more) =>
      serve(['--data', project.data, ...more], { ...at, ...(failpoint !== undefined && { failpoint }) }),
    serveHere: (...more) => serveHere(['--data', project.data, ...more], at),
    async review() {
      const { items } = await svcJson<{ items: { userTaskId: string; tool: string; runId: string }[] }>(
        ['inbox', '--operator', '--data', project.data],
        at,
      )
      for (const { userTaskId, ...task } of items) {
        // No run calls the same tool twice.
        const happened = arrivals.find((each) => each.runId === task.runId && each.tool === task.tool)
        const answer = happened ? ['happened', '--text', JSON.stringify({ done: happened.key })] : ['retry']
        const ran = await svc(['answer', userTaskId, '--option', ...answer, '--data', project.data], at)
        // `retry` is refused while bytes of the lost call may still arrive; the next round comes back. Whoever made the call may
        // store its outcome after all, which answers the question.
        if (ran.code !== 0 && happened && !ran.stderr.includes('task_already_completed')) throw new Error(ran.stderr)
      }
    },
    async close() {
      world.closeAllConnections()
      await new Promise((closed) => world.close(closed))
      project.remove()
    },
  }
}
