/** What is checked of a history when it is over. */
import type { RunId } from '../../../src/base/ids.ts'
import { findChainOffence } from '../../store/verify-chain.ts'
import { SAFE, type ClusterHistory } from './cluster.ts'

/** What a history breaks of the promises; empty where it keeps them. */
export async function brokenPromises({
  db,
  store,
  sessions,
  ledger,
  isCalm,
  endless,
  untimely,
  moves,
}: ClusterHistory): Promise<readonly string[]> {
  const broken = endless.map((name) => `endless: ${name} asks the store without end`)
  broken.push(...untimely, ...moves.broken)
  if (sessions.length === 0) broken.push('lost: no run was accepted')
  for (const id of sessions) {
    const session = (await store.session(id))!
    const runs = await store.runsOfSession(id)
    const steps = await store.stepsOfSession(id)
    const events = await store.events(id, 0, 10_000)
    if (session.finishedAt === null) broken.push(`stuck: ${id} is ${session.status}`)
    if ((await store.pendingTasks(id)).length > 0) broken.push(`stuck: a task of ${id}`)
    const reviews = (await store.tasksOfSession(id)).filter(({ kind }) => kind === 'anomaly_review')
    if (isCalm && reviews.length > 0) broken.push(`asked without need: what became of ${reviews.length} calls of ${id}`)
    if (events.some(({ seq }, at) => seq !== at + 1)) broken.push(`gap: ${id}`)
    if (steps.some(({ ordinal }, at) => ordinal !== at + 1)) broken.push(`gap in the timeline: ${id}`)
    const offence = await findChainOffence(store, id)
    if (offence) broken.push(`chain: ${offence.what}`)
    for (const run of runs) {
      const own = steps.filter((step) => step.runId === run.id)
      for (const { content, error } of own.filter(({ type }) => type === 'Reasoning')) {
        if (error !== null) continue
        for (const [index, call] of (content['tool_calls'] as unknown as { id: string; name: string }[]).entries())
          broken.push(...brokenCall(run.id, call, index))
      }
      function brokenCall(runId: RunId, { id: callId, name }: { id: string; name: string }, index: number): string[] {
        if (name === 'child') return []
        const results = own.filter(({ type, content }) => type === 'ToolResult' && content['tool_call_id'] === callId)
        if (results.length > 1) return [`told twice: ${name} ${callId}`]
        const done = [...ledger].filter(([each]) => each.startsWith(`svc:${runId}:`) && each.endsWith(`:${index}`))
        const turn = /^c(\d+)_/.exec(callId)![1]!
        const times = done.find(([each]) => each.split(':')[2] === turn)?.[1] ?? 0
        if (times > 1 && !SAFE.has(name)) return [`doubled: ${name} ${callId} happened ${times} times`]
        const result = results[0]
        if (!result) return run.status === 'Completed' ? [`lost: ${name} ${callId} has no result`] : []
        const isTold = result.content['is_error'] !== true
        if (isTold && times === 0) return [`lost: ${name} ${callId} was told as done`]
        if (!isTold && times > 0 && !SAFE.has(name)) return [`told as not done: ${name} ${callId}`]
        return []
      }
    }
  }
  const busy = db.prepare<[], string>('select id from session where busy = 1').pluck().all()
  if (busy.length > 0 && broken.length === 0) broken.push(`stuck: ${busy.join(', ')} is busy`)
  return broken
}
