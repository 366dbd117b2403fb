/** The facts about this server that transitions of a session may use: versions, routes, slots, and calls of other sessions. */
import type { Clock } from '../../base/clock.ts'
import type { VersionId } from '../../base/ids.ts'
import type { CallRow } from '../../store/session-update.ts'
import type { SessionStore } from '../../store/session-store.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import type { EngineParts } from '../interface/engine.ts'
import type { LiveSession } from '../session/live-session.ts'
import { addCallsSince } from './load-live.ts'
import { NO_RELATED_CALLS, readRelatedCalls, repeatedRunOf, type RelatedCalls } from '../session/related-calls.ts'
import { restoreInQuestion, type StoreRestore } from '../../spec/run/restore.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import type { Outages } from '../capacity/outages.ts'
import { slotOwnerOf } from '../capacity/fair-line.ts'
import type { ConcurrencyBounds, Slots } from '../capacity/slots.ts'
import { createCompletionToken } from '../session/completion-token.ts'
import type { TransitionContext } from '../transaction/context.ts'
import type { ReadEffects } from '../transaction/effect-ledger.ts'
import { callKey } from '../session/keys.ts'
import { filesOf } from '../prompt/input.ts'
import { asksSource, lookBackOf, type VersionCache } from '../session/versions.ts'
import { attachFiles } from '../effects/attach.ts'
import type { DescribedTools } from '../effects/model-tools.ts'
import type { DriverLifecycle, SessionActor } from './mailbox.ts'

export interface TransitionContextParts {
  readonly parts: EngineParts
  readonly cache: VersionCache
  readonly described: DescribedTools
  readonly slots: Slots
  readonly outages: Outages
  readonly bounds: ConcurrencyBounds
  readonly lifecycle: DriverLifecycle
}

export function transitionContextOf(
  { parts, cache, described, slots, outages, bounds, lifecycle }: TransitionContextParts,
  actor: SessionActor,
  live: LiveSession,
  outlook: OutsideFacts,
  effectsOf: ReadEffects,
): TransitionContext {
  const { versions } = live
  return {
    now: Math.max(parts.clock.now(), live.lastAt),
    heldSince: live.heldSince,
    restore: restoreInQuestion(outlook.restore, parts.clock.now()),
    ids: parts.ids,
    snapshotOf: (run) => cache.get(run.agentVersionId)?.snapshot ?? versions.of(run).snapshot,
    childOf: (bound) => versions.childOf(bound),
    routeOf: (agent, tool) => parts.tools.route(agent, tool),
    describedBy: (tool) => described.get(tool),
    stepsOf: (id) => live.steps.get(id) ?? [],
    said: live.said,
    calls: live.calls,
    relatedCalls: outlook.related,
    callsElsewhere: outlook.calls,
    revoked: outlook.revoked,
    attachedTexts: (run) => live.attached.get(run) ?? [],
    effectsOf,
    worker: parts.worker,
    maySend: actor.maySend && lifecycle.phase === 'open' && !live.isHeld,
    callsAtOnce: bounds.completion,
    takeSlot(run, starter, key, { tool, isRead }, { route, concurrency: bound }) {
      const owner = slotOwnerOf(starter, live.tree.session, run)
      return slots.take({ ...owner, session: actor.id, key, tool, route, bound, isRead })
    },
    mostOutput: ({ model, fallback = [] }) =>
      Math.max(...[model, ...fallback].map((each) => parts.providers.maxOutputTokens(each, live.tree.session.id))),
    termsOf: (model) => parts.providers.terms(model, live.tree.session.id),
    spentOn(completion) {
      const inFlight = actor.inFlight.get(completion)
      if (inFlight) return inFlight.meter.spent()
      return actor.maySend ? undefined : 'elsewhere'
    },
    outages: {
      laterThan: (cause, run, now) => outages.laterThan(cause, run, actor.id, now),
      failed: (outage, run, until) => outages.failed(outage, run, until),
    },
    newToken(run, dispatch) {
      const token = createCompletionToken(run)
      actor.tokens.set(dispatch, token)
      return token
    },
    pauses: outlook.pauses,
    ...(parts.plan && { plan: { cap: parts.plan, room: actor.planRoom } }),
    maxIterations: parts.maxIterations ?? 100,
    jitter: parts.random(),
  }
}

/** Facts outside a session on which its decisions depend. */
export interface Outlook {
  readonly calls: readonly CallRow[]
  readonly revoked: ReadonlySet<string>
  /** Calls of runs that do the same work. */
  readonly related: RelatedCalls
  /** Version of the workspace's history; absent if nothing in the session looks beyond it. */
  readonly version?: number
}

interface OutsideFacts extends Outlook {
  readonly pauses: readonly PauseAct[]
  readonly restore: StoreRestore | undefined
}

export const NO_OUTLOOK: Outlook = { calls: [], revoked: new Set(), related: NO_RELATED_CALLS }

/** Reads the files of a session, once each, where a policy of an open run asks where values come from. */
export async function readAttachedTexts(
  { store, blobs }: EngineParts,
  { tree, attached, steps }: LiveSession,
  deciding: readonly AgentVersion[],
): Promise<void> {
  if (tree.runs.every(({ state }) => state.at === 'done')) return
  if (!deciding.some(({ snapshot }) => asksSource(snapshot))) return
  // Sub-agents pass the values of their parents on.
  for (const { id, workspaceId } of tree.runs) {
    if (attached.has(id)) continue
    const parts = await attachFiles(store, blobs, workspaceId, filesOf(steps.get(id) ?? []))
    attached.set(
      id,
      [...parts.values()].flat().flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    )
  }
}

/**
 * The versions by which the runs of a session decide now or, in the transaction that is about to begin, may come to. One that is
 * gone belongs to a run that has ended, and decides no more.
 * @param next versions to which a run may move in that transaction
 */
export const decidingVersions = (
  { tree, versions }: LiveSession,
  next: readonly VersionId[],
): readonly AgentVersion[] =>
  [...new Set([...tree.runs.map(({ agentVersionId }) => agentVersionId), ...next])].flatMap(
    (id) => versions.find(id) ?? [],
  )

/** Reads the calls of runs of the session that are over, where a policy counts them. */
export async function addCountedCalls(
  store: SessionStore,
  clock: Clock,
  live: LiveSession,
  deciding: readonly AgentVersion[],
): Promise<void> {
  const lookBacks = deciding.map(({ snapshot }) => lookBackOf(snapshot))
  const ms = Math.max(0, ...lookBacks.map((each) => each.ms))
  if (lookBacks.some(({ countsSession }) => countsSession)) await addCallsSince(store, live, 0)
  else if (ms > 0) await addCallsSince(store, live, Math.max(clock.now(), live.lastAt) - ms)
}

/**
 * True where a policy counts calls of other sessions, or can be ended by an operator, and where other runs do the same work: of two
 * that decide at once, the later one sees what the other may have called.
 */
export const looksBack = (live: LiveSession, deciding: readonly AgentVersion[]): boolean =>
  hasRelatives(live) ||
  deciding.map(({ snapshot }) => lookBackOf(snapshot)).some(({ ms, standing }) => ms > 0 || standing.length > 0)

/** Reads calls in other sessions: of agents whose policies look back over a window, and of runs that do the same work; and what operators have ended. */
export async function readOutlook(
  store: SessionStore,
  clock: Clock,
  live: LiveSession,
  deciding: readonly AgentVersion[],
): Promise<Outlook> {
  const { tree, lastAt } = live
  const { id, workspaceId } = tree.session
  // Before the calls: what is decided meanwhile raises it, and the save is refused.
  const { version, revoked } = await store.workspaceHistory(workspaceId)
  const now = Math.max(clock.now(), lastAt)
  const rows = new Map<string, CallRow>()
  for (const { snapshot, agentId } of deciding) {
    const { ms, isWide } = lookBackOf(snapshot)
    if (ms === 0) continue
    const whose = isWide ? { workspaceId } : { agentId }
    for (const row of await store.calls({ ...whose, since: now - ms }))
      if (row.sessionId !== id) rows.set(callKey(row.runId, row.callId), row)
  }
  const related = hasRelatives(live) ? await readRelatedCalls(store, tree) : NO_RELATED_CALLS
  return { calls: [...rows.values()], revoked: new Set(revoked), related, version }
}

const hasRelatives = ({ isRepeated, tree }: LiveSession): boolean =>
  isRepeated || tree.runs.some((run) => repeatedRunOf(run) !== undefined)
