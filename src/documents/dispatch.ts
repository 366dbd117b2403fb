/** Which rules are called for a document: most have nothing to say to most documents. */
import type { JsonObject, JsonValue } from '../base/json.ts'
import { KINDS, type Kind } from '../spec/document.ts'
import type { Document } from './document.ts'

/** Source: `Rule`, of which these are two fields. */
export interface Concern {
  readonly kinds?: readonly Kind[] | undefined
  readonly needs?: readonly string[] | undefined
}

/** What concerns a document, in the given order: what is for its kind and finds there one of the paths that it needs. */
export function createDispatch<C extends Concern>(all: readonly C[]): (document: Document) => readonly C[] {
  const starts = new Map(
    KINDS.map((kind) => [
      kind,
      forkOf(
        all
          .filter(({ kinds }) => kinds === undefined || kinds.includes(kind))
          .map((each) => ({ each, needs: each.needs })),
      ),
    ]),
  )
  return ({ kind, value }) => {
    let fork = starts.get(kind)!
    while (fork.path !== undefined) fork = leads(value, fork.path) ? fork.there() : fork.missing()
    return fork.left
  }
}

/** True where `Spans.at` finds something at a path without numbers, given its segments. */
export function leads(value: JsonValue | undefined, path: readonly string[], from = 0): boolean {
  let here = value
  for (let at = from; at < path.length; at++) {
    if (typeof here !== 'object' || here === null) return false
    const segment = path[at]!
    if (segment === '*') {
      for (const each of Array.isArray(here) ? here : Object.values(here)) if (leads(each, path, at + 1)) return true
      return false
    }
    here = (here as JsonObject)[segment]
  }
  return here !== undefined
}

/** A question to a document. Those that answer all alike, as most of a project do, are concerned by the same. */
interface Fork<C> {
  /** What is asked for; undefined where nothing more is. */
  readonly path: readonly string[] | undefined
  /** What may concern a document that came here. */
  readonly left: readonly C[]
  there(): Fork<C>
  missing(): Fork<C>
}

interface Open<C> {
  readonly each: C
  /** Paths that are still to be asked for, of which one is enough; undefined when one was found, or none is needed. */
  readonly needs: readonly string[] | undefined
}

function forkOf<C>(open: readonly Open<C>[]): Fork<C> {
  const asked = open.find(({ needs }) => needs !== undefined)?.needs?.[0]
  let there: Fork<C> | undefined
  let missing: Fork<C> | undefined
  return {
    path: asked?.split('.'),
    left: open.map(({ each }) => each),
    there: () =>
      (there ??= forkOf(open.map((one) => (one.needs?.includes(asked!) ? { ...one, needs: undefined } : one)))),
    missing: () =>
      (missing ??= forkOf(
        open.flatMap(({ each, needs }) => {
          const others = needs?.filter((path) => path !== asked)
          return others?.length === 0 ? [] : [{ each, needs: others }]
        }),
      )),
  }
}
