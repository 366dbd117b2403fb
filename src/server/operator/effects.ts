/** Effect keys: which calls hold them, and their release by an operator. Source: docs/design/policies.md#effect-keys */
import { isoOrNull, toIsoText } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { boundedKey } from '../../policy/condition/effect-key.ts'
import type { EffectRecord } from '../../spec/effect.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { EffectView } from '../../operations/steering.ts'
import type { UndoingRunView } from '../../operations/shared.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'
import { parseSince } from './runs.ts'
import { undoingRuns } from './steer/undo.ts'

const DEFAULT_TAKE = 100
/** Runs that undo calls of one run. */
const MOST_UNDONE = 500

export const listEffects: OperatorAction<'GET /effects'> = async ({ services, query }) => {
  const { key, all, since, skip = 0, take = DEFAULT_TAKE } = query
  const filter = {
    workspaceId: services.workspace.id,
    ...(key !== undefined && { key: boundedKey(key).key }),
    ...(all !== true && { holds: true }),
    ...(since !== undefined && { from: parseSince(since) }),
  }
  const items = await services.store.effects(filter, { skip, take })
  const undoneBy = await undoneEffects(services, items)
  const shown = items.map((effect): EffectView => {
    const by = undoneBy.get(`${effect.runId} ${effect.callId}`)
    return { ...toEffectView(effect), ...(by && { undoneBy: by }) }
  })
  return { items: shown, total: items.length }
}

/** The runs that have undone these calls, or are undoing them. */
async function undoneEffects(
  services: ServerServices,
  effects: readonly EffectRecord[],
): Promise<ReadonlyMap<string, UndoingRunView>> {
  const found = new Map<string, UndoingRunView>()
  for (const origin of new Set(effects.map(({ runId }) => runId))) {
    const { items } = await services.store.runs(
      { workspaceId: services.workspace.id, origin },
      { skip: 0, take: MOST_UNDONE },
    )
    // The newest comes first; the map keeps the last.
    for (const [call, view] of await undoingRuns(services, items.toReversed())) found.set(call, view)
  }
  return found
}

/** Lets an effect happen again. Refused while a call with the key is in flight. */
export const releaseEffect: OperatorAction<'POST /effects/release'> = async ({ services, operator, body, act }) => {
  const { store, workspace, clock, log } = services
  const { key } = boundedKey(body.key)
  const now = clock.now()
  const [holder] = await store.effectsOfKey(workspace.id, key, now)
  if (!holder) throw fail('effect_not_held', { key: body.key })
  const by = approverOf(operator)
  const toAct = (answer: unknown) => {
    const calls = answer as readonly EffectRecord[]
    return act('effect.released', {
      subject: `effect ${holder.shown}`,
      reason: body.reason,
      run: { id: holder.runId, sessionId: holder.sessionId },
      before: calls.map(({ runId, callId, tool }) => ({ run: runId, call: callId, tool })),
    })
  }
  const released = await store.recording(toAct).releaseEffect(workspace.id, key, by, body.reason, now)
  log.write('info', 'An effect key was released.', { effect: holder.shown, runId: holder.runId, by })
  return { key, items: released.map(toEffectView) }
}

const toEffectView = (effect: EffectRecord): EffectView => ({
  key: effect.key,
  shown: effect.shown,
  holds: effect.holds,
  outcome: effect.state,
  tool: effect.tool,
  toolVersion: effect.toolVersion,
  agent: effect.agent,
  versionLabel: effect.agentVersion,
  runId: effect.runId,
  sessionId: effect.sessionId,
  toolCallId: effect.callId,
  at: toIsoText(effect.at),
  expiresAt: isoOrNull(effect.expiresAt),
  approvedBy: effect.approvedBy,
  ...(effect.released && {
    released: { at: toIsoText(effect.released.at), by: effect.released.by, reason: effect.released.reason },
  }),
})
