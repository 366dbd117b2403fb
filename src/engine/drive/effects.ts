/** What a session asks of the world, and how that becomes an event. */
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
import type { BoundTool, JsonSchema, AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import type { SessionTree, AgentVersion } from '../../store/store.ts'
import type { ToolOutcome, Toolbox } from '../../tools/tool.ts'
import { attachFiles } from './attach.ts'
import { toolNamed } from '../session/bindings.ts'
import { idempotencyKeyOf } from '../session/transaction.ts'
import type { EngineParts } from '../session/engine.ts'
import { completionKey, dispatchKey, type RunTransitionEvent } from '../session/event.ts'
import type { CompletionMeter } from './meter.ts'
import { filesOf, toRequest } from '../session/prompt.ts'

export type RunEffect =
  | {
      readonly do: 'complete'
      readonly key: string
      readonly runId: RunId
      readonly turn: number
      readonly attempt: number
      /** The same count without the tries that ended with their process. */
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

/** All that is under way, or should be, where a tree stands. It follows from the tree alone, so recovery asks the same. */
export const effectsOf = (tree: SessionTree): readonly RunEffect[] => tree.runs.flatMap(effectsOfRun)

function effectsOfRun({ id, state }: Run): RunEffect[] {
  if (state.at === 'thinking') {
    if (state.unsent) return []
    const { turn, attempt, lost = 0, room, note } = state
    const key = completionKey(id, turn, attempt)
    const asked = { do: 'complete', key, runId: id, turn, attempt, tries: attempt - lost } as const
    return [{ ...asked, ...(room !== undefined && { room }), ...(note && { note }) }]
  }
  if (state.at !== 'calling') return []
  return state.calls
    .filter((call) => call.state.at === 'sent')
    .map((call) => ({ do: 'invoke', key: dispatchKey(id, call.id, call.attempt), runId: id, turn: state.turn, call }))
}

/** Calls that wait for room, by the key that their dispatch will have. */
export const waitingKeys = (tree: SessionTree): ReadonlySet<string> =>
  new Set(
    tree.runs.flatMap(({ id, state }) =>
      state.at === 'calling' ? state.calls.filter(isWaiting).map((call) => dispatchKey(id, call.id, call.attempt)) : [],
    ),
  )

const isWaiting = ({ state }: ToolCall): boolean =>
  state.at === 'ready' || (state.at === 'proposed' && state.approved !== undefined)

/** Arguments of tools as their servers described them last. A tool's object lives as long as its version is in memory. */
export type DescribedTools = WeakMap<BoundTool, JsonSchema>

/** What an effect may read of its session while it runs. */
export interface EffectContext {
  readonly run: Run
  readonly snapshot: AgentSnapshot
  readonly steps: readonly RunStep[]
  /** Tools that the engine offers this run beside those its author bound. */
  readonly moves: readonly BoundTool[]
  /** Filled here, read by the gate. */
  readonly described: DescribedTools
  readonly childOf: (wire: string) => AgentVersion | undefined
}

/** An effect that is under way in this process. */
export interface EffectInFlight {
  /** Waits for the turn of a completion at its provider; what it answers ends the turn. */
  readonly enter: (provider: string, signal: AbortSignal) => Promise<() => void>
  readonly signal: AbortSignal
  readonly meter: CompletionMeter
}

/** Does what an effect says. Never throws for what the world does; a thrown error is a bug or an abort. */
export async function performEffect(
  parts: EngineParts,
  effect: RunEffect,
  scene: EffectContext,
  say: (text: string) => void,
  flight: EffectInFlight,
): Promise<RunTransitionEvent> {
  const { signal, meter } = flight
  if (effect.do === 'invoke') {
    const outcome = await invoke(parts, effect.turn, effect.call, scene, signal)
    return { type: 'call.ended', callId: effect.call.id, attempt: effect.call.attempt, outcome }
  }
  const { turn, attempt } = effect
  try {
    const { run, snapshot, steps } = scene
    const provider = parts.providers.choose(snapshot, snapshot.model, run.sessionId)
    const attachments = await attachFiles(parts.store, parts.blobs, run.workspaceId, filesOf(steps))
    const tools = await offer(parts.tools, scene, signal)
    const repair = effect.note?.['repair'] === true
    const { tries, room } = effect
    const request = toRequest({ run, snapshot, steps, turn, attempt: tries, tools, attachments, repair, room })
    const leave = await flight.enter(snapshot.model.provider, signal)
    try {
      return { type: 'model.answered', turn, attempt, completion: await complete(provider, request, say, flight) }
    } finally {
      leave()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ProviderError) {
      const { message, retryable, retryAfterMs } = error
      const usage = meter.hasHeard() ? meter.spent() : undefined
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

async function complete(
  provider: ModelProvider,
  request: CompletionRequest,
  say: (text: string) => void,
  { signal, meter }: EffectInFlight,
): Promise<ModelCompletion> {
  meter.begin(request)
  for await (const part of provider.complete(request, signal)) {
    if (part.type === 'end') return part.completion
    meter.hear(part.text)
    if (part.type === 'text') say(part.text)
  }
  throw new ProviderError('The connection to the model broke before its answer was complete.', { retryable: true })
}

async function invoke(
  { tools }: EngineParts,
  turn: number,
  call: ToolCall,
  scene: EffectContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = toolNamed(scene.snapshot, call.name)!
  const route = tools.route(scene.snapshot, tool)
  if (!route || call.state.at !== 'sent')
    return { at: 'not_sent', code: 'no_handler', error: `Nothing handles ${tool.id} on this server.` }
  return route.invoke(
    {
      tool,
      arguments: call.arguments,
      idempotencyKey: idempotencyKeyOf(scene.run.id, turn, call.index),
      callId: call.id,
      attempt: call.attempt,
      notAfter: call.state.notAfter,
      run: {
        id: scene.run.id,
        sessionId: scene.run.sessionId,
        agent: scene.snapshot.id,
        version: scene.snapshot.version,
      },
    },
    signal,
  )
}

/** A tool whose arguments nobody describes takes any object; its server has the last word. */
const ANY_OBJECT = { type: 'object' }

/** Tools and agents as the model is shown them. */
async function offer(
  toolbox: Toolbox,
  { run, snapshot, moves, described, childOf }: EffectContext,
  signal: AbortSignal,
): Promise<ModelTool[]> {
  const tools = [...snapshot.tools, ...moves].map(async (tool): Promise<ModelTool> => {
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
