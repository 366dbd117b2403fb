/** Completions and tool calls that the state of a session asks for, and the events they result in. */
import type { RunId } from '../../base/ids.ts'
import { isFailure } from '../../base/failure.ts'
import type { JsonObject } from '../../base/json.ts'
import {
  ProviderError,
  type ModelCompletion,
  type CompletionRequest,
  type ModelTool,
  type ModelProvider,
} from '../../providers/provider.ts'
import { delegationSchema } from '../../spec/delegation.ts'
import type { ToolCall, Run } from '../../spec/run.ts'
import type { BoundTool, JsonSchema, AgentSnapshot, SnapshotModel } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import type { SessionTree, AgentVersion } from '../../store/store.ts'
import type { ToolOutcome, Toolbox } from '../../tools/tool.ts'
import { attachFiles } from './attach.ts'
import { toolNamed } from '../session/bindings.ts'
import { idempotencyKeyOf } from '../session/transaction.ts'
import type { EngineParts } from '../session/engine.ts'
import { completionKey, dispatchKey, type FallbackAnswer, type RunTransitionEvent } from '../session/event.ts'
import type { CompletionMeter } from './meter.ts'
import { filesOf, toRequest } from '../session/prompt.ts'

export type RunEffect =
  | {
      readonly do: 'complete'
      readonly key: string
      readonly runId: RunId
      readonly turn: number
      readonly attempt: number
      /** Attempts, not counting those lost when their process ended. */
      readonly tries: number
      readonly room?: number
      readonly note?: JsonObject
    }
  | {
      readonly do: 'invoke'
      readonly key: string
      readonly runId: RunId
      readonly turn: number
      readonly call: ToolCall
    }

/** Effects that should be in flight. They follow from the stored state alone, so recovery starts the same ones. */
export const effectsOf = (tree: SessionTree): readonly RunEffect[] => tree.runs.flatMap(effectsOfRun)

function effectsOfRun({ id, state }: Run): RunEffect[] {
  if (state.at === 'thinking') {
    if (state.unsent) return []
    const { turn, attempt, lost = 0, room, note } = state
    const key = completionKey(id, turn, attempt)
    const effect = { do: 'complete', key, runId: id, turn, attempt, tries: attempt - lost } as const
    return [{ ...effect, ...(room !== undefined && { room }), ...(note && { note }) }]
  }
  if (state.at !== 'calling') return []
  return state.calls
    .filter((call) => call.state.at === 'sent')
    .map((call) => ({ do: 'invoke', key: dispatchKey(id, call.id, call.attempt), runId: id, turn: state.turn, call }))
}

/** Keys that the dispatches of calls waiting for a slot will have. */
export const waitingKeys = (tree: SessionTree): ReadonlySet<string> =>
  new Set(
    tree.runs.flatMap(({ id, state }) =>
      state.at === 'calling' ? state.calls.filter(isWaiting).map((call) => dispatchKey(id, call.id, call.attempt)) : [],
    ),
  )

const isWaiting = ({ state }: ToolCall): boolean =>
  state.at === 'ready' || (state.at === 'proposed' && state.approved !== undefined)

/** Input schemas as tool servers described them last. Weak: a tool is dropped with the version it belongs to. */
export type DescribedTools = WeakMap<BoundTool, JsonSchema>

/** The part of a session that an effect reads while it runs. */
export interface EffectContext {
  readonly run: Run
  readonly snapshot: AgentSnapshot
  readonly steps: readonly RunStep[]
  /** Tools that the engine offers this run in addition to those its author bound. */
  readonly offered: readonly BoundTool[]
  /** Filled here, read when a call is authorized. */
  readonly described: DescribedTools
  readonly childOf: (wire: string) => AgentVersion | undefined
}

/** An effect in flight in this process. */
export interface EffectInFlight {
  /** Waits for a free completion slot of a provider; call the result to give it back. */
  readonly enter: (provider: string, signal: AbortSignal) => Promise<() => void>
  readonly controller: AbortController
  readonly meter: CompletionMeter
}

/** Performs an effect. Failures of providers and tools become events; a thrown error is a bug or an abort. */
export async function performEffect(
  parts: EngineParts,
  effect: RunEffect,
  context: EffectContext,
  onText: (text: string) => void,
  { controller, meter, enter }: EffectInFlight,
): Promise<RunTransitionEvent> {
  const { signal } = controller
  if (effect.do === 'invoke') {
    const outcome = await invoke(parts, effect.turn, effect.call, context, signal)
    return { type: 'call.ended', callId: effect.call.id, attempt: effect.call.attempt, outcome }
  }
  const { turn, attempt } = effect
  try {
    const { run, snapshot, steps } = context
    const attachments = await attachFiles(parts.store, parts.blobs, run.workspaceId, filesOf(steps))
    const tools = await toModelTools(parts.tools, context, signal)
    const repair = effect.note?.['repair'] === true
    const { tries, room } = effect
    const ask = async (model: SnapshotModel): Promise<ModelCompletion> => {
      const provider = parts.providers.choose(snapshot, model, run.sessionId)
      const asking = model === snapshot.model ? snapshot : { ...snapshot, model }
      const request = toRequest({
        run,
        snapshot: asking,
        steps,
        turn,
        attempt: tries,
        tools,
        attachments,
        repair,
        room,
      })
      const leave = await enter(model.provider, signal)
      try {
        return await complete(provider, request, onText, signal, meter)
      } finally {
        leave()
      }
    }
    return { type: 'model.answered', turn, attempt, ...(await askInTurn(snapshot, ask, signal, meter)) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ProviderError) {
      const { message, retryable, retryAfterMs } = error
      const usage = meter.hasText() ? meter.spent() : undefined
      return {
        type: 'model.failed',
        turn,
        attempt,
        error: message,
        retryable,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(usage && { usage }),
      }
    }
    if (isFailure(error)) return { type: 'model.failed', turn, attempt, error: error.message, retryable: false }
    throw error
  }
}

/**
 * Asks the agent's model, and after a failure before the first token the models of `svc/model-fallback`, one after the other.
 * @throws ProviderError with the failures of all, to be retried where one of them may pass
 */
async function askInTurn(
  { model, fallback = [] }: AgentSnapshot,
  ask: (model: SnapshotModel) => Promise<ModelCompletion>,
  signal: AbortSignal,
  meter: CompletionMeter,
): Promise<{ readonly completion: ModelCompletion; readonly fallback?: FallbackAnswer }> {
  const failed: ProviderError[] = []
  const models = [model, ...fallback]
  for (const each of models) {
    try {
      const completion = await ask(each)
      if (failed.length === 0) return { completion }
      const after = failed.map(({ message }, at) => ({ model: models[at]!.name, error: message }))
      return { completion, fallback: { model: each.name, after } }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ProviderError) || fallback.length === 0) throw error
      failed.push(error)
      if (meter.hasText()) break
    }
  }
  const waits = failed.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  throw new ProviderError(failed.map(({ message }, at) => `${models[at]!.name}: ${message}`).join(' '), {
    retryable: failed.some(({ retryable }) => retryable),
    ...(waits.length > 0 && { retryAfterMs: Math.min(...waits) }),
    cause: failed[0],
  })
}

async function complete(
  provider: ModelProvider,
  request: CompletionRequest,
  onText: (text: string) => void,
  signal: AbortSignal,
  meter: CompletionMeter,
): Promise<ModelCompletion> {
  meter.begin(request)
  for await (const part of provider.complete(request, signal)) {
    if (part.type === 'end') return part.completion
    meter.addText(part.text)
    if (part.type === 'text') onText(part.text)
  }
  throw new ProviderError('The connection to the model broke before its answer was complete.', { retryable: true })
}

async function invoke(
  { tools }: EngineParts,
  turn: number,
  call: ToolCall,
  context: EffectContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = toolNamed(context.snapshot, call.name)!
  const route = tools.route(context.snapshot, tool)
  if (!route || call.state.at !== 'sent')
    return { at: 'not_sent', code: 'no_handler', error: `Nothing handles ${tool.id} on this server.` }
  return route.invoke(
    {
      tool,
      arguments: call.arguments,
      idempotencyKey: idempotencyKeyOf(context.run.id, turn, call.index),
      callId: call.id,
      attempt: call.attempt,
      notAfter: call.state.notAfter,
      run: {
        id: context.run.id,
        sessionId: context.run.sessionId,
        agent: context.snapshot.id,
        version: context.snapshot.version,
      },
    },
    signal,
  )
}

/** Input schema of a tool that nobody describes: its server checks the arguments. */
const ANY_OBJECT = { type: 'object' }

/** Tools and agents as the model sees them. */
async function toModelTools(
  toolbox: Toolbox,
  { run, snapshot, offered, described, childOf }: EffectContext,
  signal: AbortSignal,
): Promise<ModelTool[]> {
  const tools = [...snapshot.tools, ...offered].map(async (tool): Promise<ModelTool> => {
    if (tool.inputSchema !== undefined)
      return { name: tool.wire, description: tool.description, schema: tool.inputSchema }
    const found = await toolbox.describe(snapshot, tool, signal, run.sessionId)
    if (found) described.set(tool, found.schema)
    return {
      name: tool.wire,
      description: tool.description || (found?.description ?? ''),
      schema: found?.schema ?? ANY_OBJECT,
    }
  })
  const agents = snapshot.agents.map(({ wire, description, inputSchema }) => ({
    name: wire,
    description,
    schema: delegationSchema(inputSchema, childOf(wire)?.snapshot.inputContract),
  }))
  return [...(await Promise.all(tools)), ...agents]
}
