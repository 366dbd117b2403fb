/**
 * Makes the calls of clients for which an agent stands. A conversation of a client is a session, and each call a completion of its run.
 * Source: docs/design/gate.md#a-conversation
 */
import { digestOfJson } from '../../base/digest.ts'
import { fail, isFailure } from '../../base/failure.ts'
import { nameBasedId, type RunId, type SessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { isExternalModel } from '../../spec/external.ts'
import { approverOf } from '../../spec/people/key.ts'
import { DEFAULT_MAX_TOOL_CALLS, type AgentSnapshot, type BoundTool } from '../../spec/snapshot.ts'
import type { SessionDriver } from '../drive/drive.ts'
import type { SessionNotifier } from '../drive/notifier.ts'
import type {
  ClientCall,
  ClientCallAnswer,
  ClientCallState,
  ClientConversation,
  ClientGate,
  ClientPatience,
  ClientTool,
} from '../interface/client-call.ts'
import type { Engine, EngineParts } from '../interface/engine.ts'
import { findBreachAfterCompletion } from '../limits/limits.ts'
import { advanceRun } from '../machine/advance.ts'
import { isCarriedOutHere, toolNamed } from '../session/bindings.ts'
import type { RunHandle, SessionTransaction } from '../transaction/transaction.ts'
import { findOpenCall, givenArguments, readClientCall } from './read-call.ts'

interface GateParts {
  readonly parts: EngineParts
  readonly driver: Pick<SessionDriver, 'post' | 'ask' | 'describeTool'>
  readonly notifier: Pick<SessionNotifier, 'subscribe'>
  readonly start: Engine['start']
}

/** Longest name that a client may give to a conversation or a call. */
const MOST_NAME = 200

export function createClientGate(gate: GateParts): ClientGate {
  /** First calls of a conversation that arrive together start it once. */
  const starting = new Map<SessionId, Promise<unknown>>()
  return {
    async callTool(call, patience) {
      checkName('callId', call.callId)
      const sessionId = sessionIdOf(call)
      const given = { ...call, arguments: gate.parts.redactor.json(call.arguments) }
      const found = await handIn(gate, starting, sessionId, given, patience.signal)
      return awaitCall(gate, { sessionId, ...found }, patience)
    },
    async findCall(call, patience) {
      checkName('callId', call.callId)
      const sessionId = sessionIdOf(call)
      const runId = await findRun(gate, sessionId, call.callId)
      if (runId === undefined) throw fail('not_found', { what: 'call' })
      return awaitCall(gate, { sessionId, runId, callId: call.callId }, patience)
    },
    async hasCall(call) {
      checkName('callId', call.callId)
      return (await findRun(gate, sessionIdOf(call), call.callId)) !== undefined
    },
    listTools: (of, signal) => listClientTools(gate, of, signal),
  }
}

function sessionIdOf({ workspaceId, agentId, principal, conversation }: ClientConversation): SessionId {
  checkName('conversation', conversation)
  return nameBasedId<'session'>('conversation', workspaceId, agentId, approverOf(principal), conversation)
}

/** @throws Failure `invalid_value` */
function checkName(what: string, name: string): void {
  if (name === '' || name.length > MOST_NAME || name.includes('\0') || !name.isWellFormed())
    throw fail('invalid_value', { what: `${what} must be text of 1 to ${MOST_NAME} characters.` })
}

/** Hands a call in, unless it is known; begins or continues its conversation where no run of it waits. */
async function handIn(
  gate: GateParts,
  starting: Map<SessionId, Promise<unknown>>,
  sessionId: SessionId,
  call: ClientCall,
  signal: AbortSignal,
): Promise<FoundCall> {
  let isDescribed = false
  let isNew = false
  for (;;) {
    const found = await postCall(gate, sessionId, call, { isDescribed, isNew })
    switch (found.at) {
      case 'accepted':
        return { runId: found.runId, callId: found.callId }
      case 'absent':
        await startOnce(gate, starting, sessionId, call, false)
        break
      case 'over':
        await startOnce(gate, starting, sessionId, call, true)
        break
      case 'continued': {
        const earlier = await findRun(gate, sessionId, call.callId)
        if (earlier !== undefined && earlier !== found.runId) return checkKnown(gate, sessionId, earlier, call)
        isNew = true
        break
      }
      case 'undescribed':
        await gate.driver.describeTool(found.snapshot, found.tool, signal).catch(ignore)
        isDescribed = true
    }
  }
}

/** What is known of a call before it is handed in. */
interface KnownOfCall {
  /** Its tool was described by the server, or cannot be: the server then checks the arguments. */
  readonly isDescribed: boolean
  /** No earlier run of the conversation has it. */
  readonly isNew: boolean
}

interface FoundCall {
  readonly runId: RunId
  readonly callId: string
}

type HandedIn =
  | ({ readonly at: 'accepted' } & FoundCall)
  /** There is no such conversation yet. */
  | { readonly at: 'absent' }
  /** Its run was completed: the client called nothing for a while, or another version was deployed. */
  | { readonly at: 'over' }
  /** It has earlier runs, which may have the call. */
  | { readonly at: 'continued'; readonly runId: RunId }
  | { readonly at: 'undescribed'; readonly snapshot: AgentSnapshot; readonly tool: BoundTool }

async function postCall(
  { driver, parts: { store } }: GateParts,
  sessionId: SessionId,
  call: ClientCall,
  known: KnownOfCall,
): Promise<HandedIn> {
  const deployed = (await store.agent(call.agentId))?.deployedVersionId
  try {
    return await driver.post(sessionId, (tx) => {
      const run = tx.run(tx.session.rootRunId)
      const isOutdated = deployed && run.record.agentVersionId !== deployed && !run.callRow(call.callId)
      if (isOutdated && advanceRun(run, { type: 'outdated' })) return { at: 'over' }
      return applyClientCall(tx, call, known)
    })
  } catch (error) {
    if (isFailure(error, 'not_found')) return { at: 'absent' }
    throw error
  }
}

/** @throws Failure `call_id_reused`, `unknown_tool`, `conversation_ended`, `conversation_held`, `calls_under_way` */
function applyClientCall(tx: SessionTransaction, call: ClientCall, known: KnownOfCall): HandedIn {
  const run = tx.run(tx.session.rootRunId)
  const { callId, conversation } = call
  if (run.callRow(callId)) {
    checkSameCall(run, call)
    return { at: 'accepted', runId: run.id, callId }
  }
  if (tx.session.entryRunId !== undefined && !known.isNew) return { at: 'continued', runId: run.id }
  const { state, snapshot } = run
  const open = call.isUnnamed ? findOpenCall(run, toolNamed(snapshot, call.tool), call.arguments) : undefined
  if (open !== undefined) return { at: 'accepted', runId: run.id, callId: open }
  if (state.at === 'done' && state.outcome === 'completed') return { at: 'over' }
  if (state.at === 'done') throw fail('conversation_ended', { conversation, why: state.error ?? run.record.status })
  const tool = toolNamed(snapshot, call.tool)
  if (!tool || isCarriedOutHere(tool)) throw fail('unknown_tool', { agent: snapshot.id, tool: call.tool })
  if (tool.inputSchema === undefined && !known.isDescribed && !tx.context.describedBy(tool))
    return { at: 'undescribed', snapshot, tool }
  if (state.at === 'calling') checkRoom(run, state.calls.filter((each) => each.state.at !== 'settled').length)
  if (!advanceRun(run, { type: 'called', call: { id: callId, name: call.tool, arguments: call.arguments } }))
    throw fail('conversation_held', { conversation })
  return { at: 'accepted', runId: run.id, callId }
}

/**
 * A call that joins others cannot end their run, so one that a limit forbids waits until they are settled: it then begins a turn, at
 * which the limit ends the run or asks an operator.
 * @throws Failure `calls_under_way`
 */
function checkRoom(run: RunHandle, open: number): void {
  const most = run.snapshot.maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS
  if (open >= most || findBreachAfterCompletion(run, true)) throw fail('calls_under_way', { open, most })
}

/** @throws Failure `call_id_reused` */
function checkSameCall(run: RunHandle, { callId, tool, arguments: given }: ClientCall): void {
  const before = givenArguments(run, callId)
  const row = run.callRow(callId)!
  const isSame = toolNamed(run.snapshot, tool)?.id === row.ref
  if (!isSame || (before !== undefined && digestOfJson(before) !== digestOfJson(given)))
    throw fail('call_id_reused', { callId })
}

const checkKnown = ({ driver }: GateParts, sessionId: SessionId, runId: RunId, call: ClientCall): Promise<FoundCall> =>
  driver.ask(
    sessionId,
    (tx) => {
      checkSameCall(tx.run(runId), call)
      return { runId, callId: call.callId }
    },
    { about: [runId] },
  )

/** The run of a conversation that has a call; undefined where none has. */
async function findRun(
  { parts: { store } }: GateParts,
  sessionId: SessionId,
  callId: string,
): Promise<RunId | undefined> {
  const runs = await store.runsOfSession(sessionId)
  const roots = runs.filter(({ parentRunId }) => parentRunId === null)
  const rows = await store.callsNamed(
    sessionId,
    roots.map(({ id: runId }) => ({ runId, callId })),
  )
  return rows[0]?.runId
}

async function startOnce(
  gate: GateParts,
  starting: Map<SessionId, Promise<unknown>>,
  sessionId: SessionId,
  call: ClientCall,
  continues: boolean,
): Promise<void> {
  const begun =
    starting.get(sessionId) ??
    startConversation(gate, sessionId, call, continues).finally(() => starting.delete(sessionId))
  starting.set(sessionId, begun)
  await begun
}

/** Another process may begin the same conversation at the same time. */
async function startConversation(
  { parts: { store }, start }: GateParts,
  sessionId: SessionId,
  { workspaceId, agentId, principal, conversation, limits, metadata }: ClientCall,
  continues: boolean,
): Promise<void> {
  const before = continues ? await store.session(sessionId) : undefined
  try {
    await start({
      workspaceId,
      agentId,
      principal,
      triggerType: principal.type === 'operator' ? 'operator' : 'api',
      triggerId: principal.type === 'api_key' ? principal.triggerId : null,
      triggerName: principal.type === 'operator' ? null : principal.triggerName,
      input: { conversation },
      limits,
      byClient: true,
      ...(metadata && { metadata }),
      ...(continues ? { continued: { sessionId } } : { sessionId }),
    })
  } catch (error) {
    const now = await store.session(sessionId)
    if (!now || now.rootRunId === before?.rootRunId) throw error
  }
}

/** Waits until a call has its outcome, or until the caller leaves or this process ends: the call goes on, and is found again by its id. */
async function awaitCall(
  { driver, notifier }: GateParts,
  about: { readonly sessionId: SessionId; readonly runId: RunId; readonly callId: string },
  { signal, leavesForPerson = false }: ClientPatience,
): Promise<ClientCallAnswer> {
  const { sessionId, runId, callId } = about
  const subscription = notifier.subscribe(sessionId, false)
  let last: ClientCallState = { at: 'working' }
  try {
    for (;;) {
      const seen = subscription.count() // before the read: a save meanwhile notifies again
      const isLast = signal.aborted
      const state = await driver.ask(sessionId, (tx) => readClientCall(tx.run(runId), callId), { about: [runId] })
      if (!state) throw fail('not_found', { what: 'call' })
      if (isLast || isOver(state, leavesForPerson)) return { ...about, ...state }
      last = state
      await subscription.waitBeyond(seen, signal)
    }
  } catch (error) {
    if (isFailure(error, 'shutting_down')) return { ...about, ...last }
    throw error
  } finally {
    subscription.close()
  }
}

const isOver = ({ at }: ClientCallState, leavesForPerson: boolean): boolean =>
  at === 'settled' || at === 'stopped' || (leavesForPerson && (at === 'asking' || at === 'unknown'))

async function listClientTools(
  { parts: { store }, driver }: GateParts,
  { workspaceId, agentId }: Pick<ClientConversation, 'workspaceId' | 'agentId'>,
  signal: AbortSignal,
): Promise<readonly ClientTool[]> {
  const agent = await store.agent(agentId)
  if (!agent || agent.workspaceId !== workspaceId) throw fail('not_found', { what: 'agent' })
  const version = agent.deployedVersionId && (await store.version(agent.deployedVersionId))
  if (!version) throw fail('no_deployed_version', { agent: agent.name })
  const { snapshot } = version
  if (!isExternalModel(snapshot.model)) throw fail('agent_not_external', { agent: snapshot.id })
  const offered = snapshot.tools.filter((tool) => !isCarriedOutHere(tool))
  return Promise.all(
    offered.map(async (tool): Promise<ClientTool> => {
      // A server that says nothing takes no other tool off the list; a call of its own reports it.
      const undescribed = { description: tool.description, schema: {} }
      const { description, schema } = await driver.describeTool(snapshot, tool, signal).catch(() => undescribed)
      return { tool, description, inputSchema: toObjectSchema(schema) }
    }),
  )
}

/** MCP knows only schemas of objects. */
const toObjectSchema = (schema: JsonValue): ClientTool['inputSchema'] =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema : { type: 'object' }

function ignore(): void {}
