/**
 * Waiting requests, served in turn by owner: each trigger once, of a trigger each caller once, of a caller each run once. So a caller with
 * hundreds of runs delays another one's only run by no more than one request.
 */
import type { RunId } from '../../base/ids.ts'
import type { Session } from '../../spec/run/session.ts'
import type { RunStarter } from '../../spec/run/starter.ts'

/** For whom something is done, from the outside inwards. */
export interface SlotOwner {
  /** Its id; that of the agent where operators start runs. */
  readonly trigger: string
  /** The key, schedule or person. */
  readonly caller: string
  readonly run: RunId
}

export const slotOwnerOf = (
  { triggerId, triggeredBy }: Pick<RunStarter, 'triggerId' | 'triggeredBy'>,
  { agentId }: Pick<Session, 'agentId'>,
  run: RunId,
): SlotOwner => ({ trigger: triggerId ?? agentId, caller: triggeredBy ?? '', run })

/** How much of a bound one trigger may use, so that calls of it that hang leave some of it to others. */
export const shareOfTrigger = (bound: number): number => Math.ceil((bound * 3) / 4)

export interface FairLine<Item> {
  /** Puts a request behind those of its run, and a run, caller or trigger that had none behind the others. */
  join(owner: SlotOwner, item: Item): void
  /** Takes out the first request in turn that fits; its run, caller and trigger come last from now on. */
  takeNext(fits: (item: Item) => boolean): Item | undefined
  leave(owner: SlotOwner, item: Item): void
}

/** Maps in the order of turns: what is deleted and set again comes last. */
type Turns<Value> = Map<string, Value>

export function createFairLine<Item>(): FairLine<Item> {
  const line: Turns<Turns<Turns<Item[]>>> = new Map()

  const runOf = ({ trigger, caller, run }: SlotOwner): Item[] => line.get(trigger)?.get(caller)?.get(run) ?? []

  /** Stores what is left of a run. @param isServed puts it, its caller and its trigger last */
  function put({ trigger, caller, run }: SlotOwner, items: Item[], isServed: boolean): void {
    const callers = line.get(trigger) ?? new Map<string, Turns<Item[]>>()
    const runs = callers.get(caller) ?? new Map<string, Item[]>()
    setInTurn(runs, run, items.length > 0 ? items : undefined, isServed)
    setInTurn(callers, caller, runs.size > 0 ? runs : undefined, isServed)
    setInTurn(line, trigger, callers.size > 0 ? callers : undefined, isServed)
  }

  return {
    join: (owner, item) => put(owner, [...runOf(owner), item], false),
    takeNext(fits) {
      for (const [trigger, callers] of line)
        for (const [caller, runs] of callers)
          for (const [run, items] of runs) {
            const at = items.findIndex(fits)
            if (at < 0) continue
            put({ trigger, caller, run: run as RunId }, items.toSpliced(at, 1), true)
            return items[at]
          }
      return undefined
    },
    leave(owner, item) {
      const items = runOf(owner)
      if (items.includes(item))
        put(
          owner,
          items.filter((each) => each !== item),
          false,
        )
    },
  }
}

function setInTurn<Value>(turns: Turns<Value>, name: string, value: Value | undefined, isServed: boolean): void {
  if (isServed || value === undefined) turns.delete(name)
  if (value !== undefined) turns.set(name, value)
}
