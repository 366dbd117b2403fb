/**
 * The tools of an agent that stands for its client. A call goes through the gate of the engine: whatever becomes of it, no call is made
 * twice, and nothing here decides a task. Source: docs/design/gate.md#the-mcp-endpoint
 */
import { signalWithin } from '../../base/signal-within.ts'
import { randomUUID } from 'node:crypto'
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { Instant } from '../../base/clock.ts'
import { digestOfJson } from '../../base/digest.ts'
import { fail, isFailure } from '../../base/failure.ts'
import type { AgentId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson, toJson } from '../../base/json/typed-json.ts'
import type { ClientCallAnswer, ClientConversation, ClientPatience } from '../../engine/interface/client-call.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { BoundTool } from '../../spec/snapshot.ts'
import { taskAddress } from '../../view/console-address.ts'
import { admitWait } from '../auth/admit-wait.ts'
import type { AuthenticatedCaller } from '../auth/auth.ts'
import { startLimits } from '../runtime/rates.ts'
import type { ServerServices } from '../runtime/services.ts'
import { secondsInMeta, textInMeta } from './call-meta.ts'
import { CALL_RESULT_TOOL, toClientResult } from './client-result.ts'
import { textResult, type McpAddress, type McpCall, type McpTools } from './mcp-tools.ts'
import type { OpenCalls } from './open-calls.ts'

/** Keys of `_meta` by which a client says more about a call than MCP does. */
const META = {
  conversation: 'svc/conversation',
  idempotencyKey: 'svc/idempotency-key',
  /** Names a call that has no key, where its request may be sent again. */
  request: 'svc/request',
  waitSeconds: 'svc/wait-seconds',
} as const

/** How long a call is held that has no outcome yet: clients give up after 60 s, some after 30. */
const DEFAULT_WAIT_S = 25
const LONGEST_WAIT_S = 100

const DAY_MS = 86_400_000

interface AnsweredCall {
  readonly answer: ClientCallAnswer
  /** It is the same call as one that had no outcome, and no other was made. */
  readonly isAgain: boolean
}

export function createClientTools(
  services: ServerServices,
  caller: AuthenticatedCaller,
  agentId: AgentId,
  openCalls: OpenCalls,
): McpTools {
  const { engine, config, clock, redactor, serverState } = services
  const { principal, trigger } = caller
  const { workspaceId } = principal

  const toConversation = (conversation: string): ClientConversation => ({
    workspaceId,
    agentId,
    principal,
    conversation,
  })

  /** Where a client names no conversation its calls of a day belong together, and one of the day before is found there. */
  async function conversationOf(named: string | undefined, callId: string | undefined): Promise<ClientConversation> {
    if (named !== undefined) return toConversation(named)
    const before = toConversation(dayOf(clock.now() - DAY_MS))
    const isOfBefore = callId !== undefined && (await engine.gate.hasCall({ ...before, callId }))
    return isOfBefore ? before : toConversation(dayOf(clock.now()))
  }

  async function answerCall(request: McpCall, patience: ClientPatience): Promise<AnsweredCall> {
    const { name, arguments: args, meta, state } = request
    const named = textInMeta(meta, META.conversation)
    if (name === CALL_RESULT_TOOL) {
      const { handle } = args
      if (typeof handle !== 'string')
        throw fail('invalid_value', { what: 'handle is missing: the text that the call was answered with.' })
      const conversation = await conversationOf(named, handle)
      return { answer: await engine.gate.findCall({ ...conversation, callId: handle }, patience), isAgain: false }
    }
    const own = textInMeta(meta, META.idempotencyKey) ?? state
    const given = own ?? textInMeta(meta, META.request)
    const conversation = await conversationOf(named, given)
    const key = digestOfJson([approverOf(principal), agentId, named ?? null, name, args])
    const open = own === undefined ? openCalls.find(key) : undefined
    const asked = given ?? randomUUID()
    const { callId, conversation: madeIn } = open ?? { callId: asked, conversation }
    // From now on: a client may lose patience and make it again before this request has its answer.
    openCalls.keep(key, { callId, conversation: madeIn })
    const limits = startLimits(config, trigger ?? undefined)
    try {
      const isUnnamed = own === undefined
      const call = { ...madeIn, callId, isUnnamed, tool: name, arguments: args, limits }
      const answer = await engine.gate.callTool(call, patience)
      // It was open before this process began, or at another one.
      if (answer.callId !== callId) openCalls.forget(key, callId)
      if (answer.at === 'settled' || answer.at === 'stopped') openCalls.forget(key, answer.callId)
      else openCalls.keep(key, { callId: answer.callId, conversation: madeIn })
      return { answer, isAgain: answer.callId !== asked }
    } catch (error) {
      if (isFailure(error) && error.code !== 'shutting_down') openCalls.forget(key, callId)
      throw error
    }
  }

  /** Where a person decides, for a client that shows addresses. It is never asked for the decision itself, which a model could fill in. */
  function addressFor(answer: ClientCallAnswer): McpAddress | undefined {
    const { consoleUrl } = serverState
    if (consoleUrl === null || (answer.at !== 'asking' && answer.at !== 'unknown') || answer.taskId === undefined)
      return undefined
    const message = answer.at === 'asking' ? answer.title : 'It is not known whether a call happened.'
    return { message: redactor.text(message), url: taskAddress(consoleUrl, answer.taskId), state: answer.callId }
  }

  return {
    async list() {
      const listed = await engine.gate.listTools({ workspaceId, agentId }, AbortSignal.timeout(DEFAULT_WAIT_S * 1000))
      const tools = listed.map(({ tool, description, inputSchema }): Tool => ({
        name: tool.wire,
        description: redactor.text(description),
        inputSchema: { ...inputSchema, type: 'object' },
        annotations: annotationsOf(tool),
      }))
      return [...tools.filter(({ name }) => name !== CALL_RESULT_TOOL), DESCRIBED_RESULT]
    },
    async call(asked) {
      // A client that has shown the address waits for the decision now.
      const leavesForPerson = asked.opensAddresses && asked.state === undefined && serverState.consoleUrl !== null
      const wait = admitWait(services, caller)
      try {
        const ended = wait?.signal ?? AbortSignal.abort()
        const signal = signalWithin(waitOf(asked.meta) * 1000, AbortSignal.any([asked.signal, ended]))
        const { answer, isAgain } = await answerCall(asked, { signal, leavesForPerson })
        const address = leavesForPerson ? addressFor(answer) : undefined
        const shown = toClientResult(answer, (taskId) => taskPlace(serverState.consoleUrl, taskId), isAgain)
        return address ?? fromJson<CallToolResult>(redactor.json(toJson(shown)))
      } catch (error) {
        // A refusal is a result that the model reads; only a call of nothing is an error of the protocol.
        if (!isFailure(error) || error.code === 'unknown_tool') throw error
        return textResult(redactor.text([error.message, error.fix ?? ''].join(' ').trim()), true)
      } finally {
        wait?.leave()
      }
    },
  }
}

const DESCRIBED_RESULT: Tool = {
  name: CALL_RESULT_TOOL,
  title: 'The outcome of an earlier call',
  description:
    'Tells the outcome of a call that had none yet, and waits a while for it. Give it the handle that the call was answered with.',
  inputSchema: { type: 'object', properties: { handle: { type: 'string' } }, required: ['handle'] },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

const annotationsOf = ({ sideEffectClass }: BoundTool): NonNullable<Tool['annotations']> => ({
  readOnlyHint: sideEffectClass === 'read_only',
  destructiveHint: sideEffectClass === undefined || sideEffectClass === 'irreversible_action',
  idempotentHint: sideEffectClass === 'read_only' || sideEffectClass === 'idempotent_write',
})

const taskPlace = (consoleUrl: string | null, taskId: string): string | undefined =>
  consoleUrl === null ? undefined : taskAddress(consoleUrl, taskId)

const dayOf = (at: Instant): string => `day ${new Date(at).toISOString().slice(0, 10)}`

const waitOf = (meta: JsonObject): number =>
  Math.min(secondsInMeta(meta, META.waitSeconds) ?? DEFAULT_WAIT_S, LONGEST_WAIT_S)
