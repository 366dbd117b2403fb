/** An engine in a virtual process: its clock, timers, ids and everything that it sends belong to the world of the cluster. */
import { ownStoreClock, type StoreClock } from '../../../src/base/clock.ts'
import { createIds } from '../../../src/base/ids.ts'
import { silentLog } from '../../../src/base/log.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import { UnsentError } from '../../../src/base/net/transport.ts'
import { createEngine } from '../../../src/engine/open.ts'
import type { Engine } from '../../../src/engine/interface/engine.ts'
import type { CompletionRequest, ModelCompletion } from '../../../src/providers/provider.ts'
import { createStoreClock } from '../../../src/store/store-clock.ts'
import { HELD_BACK } from '../../../src/tools/outcome.ts'
import type { ToolInvocation, ToolOutcome } from '../../../src/tools/tool.ts'
import type { VirtualProcess } from './process.ts'
import { createChance, type World } from './world.ts'

export interface ClusterMember {
  readonly process: VirtualProcess
  /** Undefined until it knows the store's time. */
  readonly engine: Engine | undefined
}

/** What the processes meet outside. */
export interface OutsideWorld {
  /** Resolves when a connection is open, which may take long. */
  connect(process: VirtualProcess): Promise<void>
  complete(process: VirtualProcess, request: CompletionRequest): Promise<ModelCompletion>
  invoke(process: VirtualProcess, tool: string, invocation: ToolInvocation): Promise<ToolOutcome>
  /** A request was not sent, since it was not its process's to send. */
  heldBack(): void
}

export interface MemberOptions {
  readonly world: World
  readonly outside: OutsideWorld
  /** Of the ids and the chances of this process. */
  readonly seed: number
  /** Where requests leave without asking whether they may, and whether they were called off. */
  readonly unguarded?: boolean
  readonly deaf?: boolean
  /** Where it decides by its own clock. */
  readonly ownTime?: boolean
}

export function openMember(process: VirtualProcess, options: MemberOptions): ClusterMember {
  const { world, outside, seed, unguarded = false, deaf = false, ownTime = false } = options
  const own = createChance(seed)

  /** Opens a connection, during which anything may happen, and asks whether the request may still leave. */
  async function send(mayLeave: (() => boolean) | undefined, signal: AbortSignal): Promise<void> {
    await outside.connect(process)
    await process.pass()
    if (!deaf) signal.throwIfAborted()
    if (unguarded || mayLeave?.() !== false) return
    outside.heldBack()
    throw new UnsentError('held back', 'ERR_HELD_BACK', undefined)
  }

  async function invoke(name: string, invocation: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome> {
    try {
      await send(invocation.mayLeave, signal)
    } catch (error) {
      return error instanceof UnsentError ? HELD_BACK : { at: 'not_sent', code: 'cancelled', error: 'Called off.' }
    }
    return outside.invoke(process, name, invocation)
  }

  const timers = world.timersFor(() => process.isAwake())
  const measured = createStoreClock({ clock: process.clock, ask: () => process.storeTime(), timers })
  const open = (clock: StoreClock): Engine =>
    createEngine({
      store: process.store,
      worker: process.name,
      leaseTimes: { ttlMs: 15_000, marginMs: 3000, claimEveryMs: 2000 },
      clock,
      timers,
      ids: createIds(
        () => world.now(),
        (bytes) => {
          for (let index = 0; index < bytes.length; index++) bytes[index] = own.int(0, 255)
        },
      ),
      random: () => own.next(),
      log: silentLog,
      redactor: createRedactor(),
      providers: {
        choose: () => ({
          async *complete(request, signal) {
            await send(request.mayLeave, signal)
            yield { type: 'end', completion: await outside.complete(process, request) }
          },
        }),
        maxOutputTokens: () => 100,
        terms: () => ({ price: 'free' }),
      },
      tools: {
        route: (_, bound) => ({
          route: 'mock',
          timeoutMs: 60_000,
          invoke: (invocation, signal) => invoke(bound.wire, invocation, signal),
        }),
        describe: () => Promise.resolve(undefined),
        findUnsetSecret: () => undefined,
        close: () => Promise.resolve(),
      },
    })
  let engine: Engine | undefined
  async function begin(): Promise<void> {
    await measured.measure()
    measured.begin()
    engine = open(ownTime ? ownStoreClock(process.clock) : measured)
    await engine.recover()
  }
  // A server that cannot recover does not start.
  begin().catch(() => process.crash())
  return {
    process,
    get engine() {
      return engine
    },
  }
}
