/** `svc serve --otel`: a run that is killed in the middle, and waits for a person, is one whole trace at a real receiver. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasOtlpTools, startReceiver, type Receiver } from '../server/telemetry/receiver.ts'
import { waitUntil } from '../wait-until.ts'
import { copyProject, deploy, serve, svcProcess, type Project } from './binary.ts'
import { caller, type Json } from './caller.ts'

async function withReceiver(work: (receiver: Receiver, project: Project) => Promise<void>): Promise<void> {
  const receiver = await startReceiver()
  const project = copyProject('clerk')
  try {
    await work(receiver, project)
  } finally {
    await receiver.close()
    project.remove()
  }
}

const variables = ({ url }: Receiver, project: Project): Record<string, string> => ({
  CLERK_LEDGER: join(project.directory, 'ledger'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '100',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  OTEL_SERVICE_NAME: 'desk',
})

const upwards = (a: number, b: number): number => a - b

/** Steps that take time, and so have a span. */
const TIMED = new Set(['Reasoning', 'ToolCall', 'SubAgentCall', 'UserTaskReq'])

describe.skipIf(!hasOtlpTools)('with node scripts/tools.js test/server/telemetry/otlp', () => {
  test('spans are neither lost nor doubled when a server is killed, and their parents are there', () =>
    withReceiver(async (receiver, project) => {
      const access = await deploy(project, 'acme.clerk', { uploads: true })
      const start = () =>
        serve(['--otel', '--data', project.data], { cwd: project.directory, env: variables(receiver, project) })
      let server = await start()
      let api = caller(server.url, access.secret)
      const waiting = await api.start(access.agentId, { case: 'child' })
      await api.settled(waiting)
      const thinking = await api.start(access.agentId, { case: 'moment' })
      // Nothing is awaited: the kill comes before, while or after the first half is exported.
      await server.stop('SIGKILL')
      server = await start()
      api = caller(server.url, access.secret)
      await api.send(waiting, { userTaskId: (await api.task(waiting)).user_task_id })
      await api.settled(waiting)
      await api.settled(thinking)
      const ends = () => receiver.spans.filter(({ name }) => name === 'invoke_agent acme.clerk').length
      await waitUntil(() => ends() === 2)

      const { spans } = receiver
      const ids = spans.map(({ spanId }) => spanId)
      expect(new Set(ids).size).toBe(ids.length)
      expect(spans.filter(({ parentSpanId }) => parentSpanId !== '' && !ids.includes(parentSpanId))).toEqual([])
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2)
      const nameOf = (id: string): string => spans.find(({ spanId }) => spanId === id)?.name ?? '-'
      const inTrace = spans.find(({ name }) => name === 'invoke_agent acme.helper')!.traceId
      const tree = spans.filter(({ traceId }) => traceId === inTrace)
      expect(tree.map(({ name, parentSpanId }) => `${nameOf(parentSpanId)} > ${name}`).toSorted()).toEqual([
        '- > invoke_agent acme.clerk',
        'delegate acme.helper > invoke_agent acme.helper',
        'invoke_agent acme.clerk > chat clerk',
        'invoke_agent acme.clerk > chat clerk',
        'invoke_agent acme.clerk > delegate acme.helper',
        'invoke_agent acme.clerk > work acme.clerk',
        'invoke_agent acme.helper > chat helper',
        'invoke_agent acme.helper > chat helper',
        'invoke_agent acme.helper > execute_tool acme.sign',
        'invoke_agent acme.helper > wait approval',
        'invoke_agent acme.helper > work acme.helper',
      ])
      expect(spans[0]!.resource).toMatchObject({ 'service.name': 'desk', 'deployment.environment.name': 'test' })
      for (const runId of [waiting, thinking]) {
        const { body } = await api.get(`/v1/runs/${runId}/conversation`)
        const { session, items } = body as Json
        const timed = (items as Json[]).filter(({ type }) => TIMED.has(type))
        const told = spans.filter(
          ({ attributes }) => 'svc.step.ordinal' in attributes && attributes['gen_ai.conversation.id'] === session.id,
        )
        expect(told.map(({ attributes }) => attributes['svc.step.ordinal'] as number).toSorted(upwards)).toEqual(
          timed.map(({ ordinal }) => ordinal as number).toSorted(upwards),
        )
      }
      expect(await server.stop('SIGTERM')).toBe(0)
    }))

  test('an address that is none ends the server with a sentence, if the option asks for telemetry', () =>
    withReceiver(async (_, project) => {
      const ran = await svcProcess(['serve', '--otel', '--data', project.data], {
        cwd: project.directory,
        env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      })
      expect(ran.code).toBe(2)
      expect(ran.stderr).toContain('Telemetry cannot be exported: OTEL_EXPORTER_OTLP_PROTOCOL is grpc.')
    }))
})
