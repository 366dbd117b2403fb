/** What is checked when all is over, from what is stored and from the ledger alone. */
import type { RunStep } from '../../src/spec/step.ts'
import type { Store } from '../../src/store/store.ts'
import type { StartedRun } from './customers.ts'
import type { Ledger } from './ledger.ts'
import { WORKSPACE_ID } from './operator.ts'

/** Tools whose calls the ledger counts, and whether one may arrive twice with its key. */
const MAY_REPEAT: Readonly<Record<string, boolean>> = { look: true, put: true, post: false, pay: false, stamp: false }

/** @returns a sentence for each promise that was broken */
export async function brokenByTorture(
  store: Store,
  ledger: Ledger,
  accepted: readonly StartedRun[],
): Promise<readonly string[]> {
  const broken: string[] = []
  const runs = new Set<string>()
  const keys = new Set<string>()
  for (let skip = 0; ; skip += 100) {
    const { items } = await store.sessions({ workspaceId: WORKSPACE_ID }, { skip, take: 100 })
    for (const { id, status, finishedAt, rootRunId } of items) {
      runs.add(rootRunId)
      const steps = await store.stepsOfSession(id)
      const events = await allEvents(store, id)
      if (finishedAt === null) broken.push(`stuck: session ${id} is ${status}`)
      else if (status !== 'Completed') broken.push(`lost: session ${id} is ${status}`)
      if ((await store.pendingTasks(id)).length > 0) broken.push(`stuck: a task of session ${id}`)
      if (events.some((seq, at) => seq !== at + 1)) broken.push(`gap: the events of session ${id}`)
      if (steps.some(({ ordinal }, at) => ordinal !== at + 1)) broken.push(`gap: the timeline of session ${id}`)
      for (const run of await store.runsOfSession(id))
        broken.push(
          ...brokenCalls(
            run.id,
            steps.filter(({ runId }) => runId === run.id),
            ledger,
            keys,
          ),
        )
    }
    if (items.length < 100) break
  }
  for (const { runId, idempotencyKey } of accepted)
    if (!runs.has(runId)) broken.push(`lost: run ${runId} of ${idempotencyKey} was accepted, and is not there`)
  if (runs.size !== new Set(accepted.map(({ idempotencyKey }) => idempotencyKey)).size)
    broken.push(
      `doubled: ${runs.size} runs for ${accepted.length} starts, ${[...runs].filter((id) => !accepted.some(({ runId }) => runId === id)).join(', ')}`,
    )
  for (const { key, tool } of ledger.entries)
    if (!keys.has(key)) broken.push(`lost: a call of ${tool} happened of which no timeline tells, ${key}`)
  return [...new Set(broken)]
}

async function allEvents(store: Store, id: Parameters<Store['events']>[0]): Promise<readonly number[]> {
  const all: number[] = []
  for (;;) {
    const page = await store.events(id, all.at(-1) ?? 0, 500)
    all.push(...page.map(({ seq }) => seq))
    if (page.length < 500) return all
  }
}

/** @param keys receives the keys of the calls that the timeline tells of */
function brokenCalls(runId: string, own: readonly RunStep[], ledger: Ledger, keys: Set<string>): string[] {
  const asked = own.filter(({ type, error }) => type === 'Reasoning' && error === null)
  return asked.flatMap(({ content }, turn) =>
    (content['tool_calls'] as unknown as { id: string; name: string }[]).flatMap(({ id, name }, index) => {
      const mayRepeat = MAY_REPEAT[name]
      if (mayRepeat === undefined) return []
      const key = `svc:${runId}:${turn + 1}:${index}`
      keys.add(key)
      const times = ledger.arrivals(key)
      const results = own.filter(({ type, content }) => type === 'ToolResult' && content['tool_call_id'] === id)
      const isDone = results[0]?.content['is_error'] !== true
      if (results.length !== 1) return [`lost: ${name} ${key} has ${results.length} results`]
      if (times > 1 && !mayRepeat) return [`doubled: ${name} ${key} happened ${times} times`]
      if (isDone && times === 0) return [`lost: ${name} ${key} was told as done, and never happened`]
      if (!isDone && times > 0 && !mayRepeat) return [`told as not done: ${name} ${key}`]
      return []
    }),
  )
}
