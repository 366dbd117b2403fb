/**
 * Joins the fragments of streamed tool calls. Servers mark fragments by index, by id, by both, by neither or wrongly, and repeat the
 * name or send it in pieces; `test/providers/call-dialects.ts` has a line for each dialect.
 */
import { isJsonObject } from '../../base/json/json.ts'
import { describeForm, FormProblem } from './form-problem.ts'

/** A fragment as it came; each member may be absent, null or empty. */
export interface CallFragment {
  readonly index?: unknown
  readonly id?: unknown
  readonly name?: unknown
  /** A piece of the JSON, or the whole as an object. */
  readonly arguments?: unknown
}

export interface AssembledCall {
  /** Absent where the server sent none. */
  readonly id?: string
  readonly name: string
  readonly arguments: string
}

export interface CallAssembler {
  /**
   * Takes the calls of one event.
   * @returns the arguments that they add
   * @throws FormProblem for arguments that are neither text nor an object
   */
  add(fragments: readonly unknown[], place: string): string
  calls(): readonly AssembledCall[]
}

interface OpenCall {
  id?: string
  index?: number
  /** Pieces or repetitions of the name, in order. */
  readonly names: string[]
  json: string
}

/** @param known names of the tools that were offered: they tell a repeated name from one that comes in pieces */
export function createCallAssembler(known: ReadonlySet<string>): CallAssembler {
  const open: OpenCall[] = []
  /** The call of each index, and the latest one. */
  const byIndex = new Map<number, OpenCall>()
  let latest: OpenCall | undefined

  function begin(): OpenCall {
    const call: OpenCall = { names: [], json: '' }
    open.push(call)
    return call
  }

  /** The call that a fragment continues, or undefined for the head of a new one. */
  function continued({ index, id, name, json }: ReadFragment, isBeside: boolean): OpenCall | undefined {
    const here = index === undefined ? latest : byIndex.get(index)
    if (id !== undefined) {
      const ofId = open.filter((call) => call.id === id)
      // Sent once more, or the latest of several that share the id.
      const same = ofId.find((call) => call.json === json && isWhole(call)) ?? ofId.at(-1)
      if (same) {
        const isElsewhere = index !== undefined && same.index !== undefined && index !== same.index
        // Servers that give each call the same id send it whole, with its name.
        const isNext = isWholeText(json) && isWhole(same) && json !== same.json && same.json.trim() !== '{}'
        return (isElsewhere || isNext) && name !== '' ? undefined : same
      }
      if (here === undefined) return undefined
      // An id after its call began; or, without a name, an id of its own for each fragment.
      if (here.id === undefined) return isWhole(here) || (name !== '' && here.json !== '') ? undefined : here
      return name === '' && json !== '' && !isWhole(here) ? here : undefined
    }
    if (name === '') return here ?? latest
    if (here === undefined || isBeside) return undefined
    // A name after the arguments: repeated, or the head of the next call.
    if (here.json === '' && isOtherName(here, name, known)) return undefined
    return here.json === '' || (!isWhole(here) && nameOf(here, known) === name) ? here : undefined
  }

  return {
    add(fragments, place) {
      let added = ''
      fragments.forEach((each, at) => {
        if (each === null || each === undefined) return
        const fragment = readFragment(each, `${place}[${at}]`)
        const isBeside = at > 0 && fragment.index === undefined
        const call = continued(fragment, isBeside) ?? begin()
        const { index, id, name, json } = fragment
        if (call.id === undefined && id !== undefined) call.id = id
        if (index !== undefined) {
          call.index ??= index
          byIndex.set(index, call)
        }
        latest = call
        if (name !== '') call.names.push(name)
        call.json = joinArguments(call.json, json)
        added += json
      })
      return added
    },
    calls: () =>
      open
        // A fragment with nothing but an id began no call.
        .filter(({ names, json }) => names.length > 0 || json !== '')
        .map((call) => ({
          ...(call.id !== undefined && { id: call.id }),
          name: nameOf(call, known),
          arguments: call.json,
        })),
  }
}

interface ReadFragment {
  readonly index?: number
  readonly id?: string
  readonly name: string
  readonly json: string
}

function readFragment(given: unknown, place: string): ReadFragment {
  if (!isJsonObject(given)) throw new FormProblem(place, `${describeForm(given)}, not a call`)
  const {
    index,
    id,
    name,
    arguments: args,
  }: CallFragment = isJsonObject(given['function'])
    ? {
        index: given['index'],
        id: given['id'],
        name: given['function']['name'],
        arguments: given['function']['arguments'] ?? given['function']['parameters'],
      }
    : given
  if (typeof args !== 'string' && !isJsonObject(args) && args !== undefined && args !== null)
    throw new FormProblem(`${place}.function.arguments`, `${describeForm(args)}, neither text nor an object`)
  const at = typeof index === 'string' && index !== '' ? Number(index) : index
  return {
    ...(typeof at === 'number' && Number.isInteger(at) && { index: at }),
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(typeof id === 'number' && { id: `${id}` }),
    name: typeof name === 'string' ? name : '',
    json: isJsonObject(args) ? JSON.stringify(args) : (args ?? ''),
  }
}

/** Arguments with a further piece. Some servers send the whole once more at the end, or an empty object before the pieces. */
export function joinArguments(before: string, piece: string): string {
  if (piece === before && isWholeText(before)) return before
  return before.trim() === '{}' && piece.trimStart().startsWith('{') ? piece : before + piece
}

/** Whether a name is that of another tool, and no piece of one: for calls without arguments, index and id. */
const isOtherName = (call: OpenCall, name: string, known: ReadonlySet<string>): boolean => {
  const before = nameOf(call, known)
  if (!known.has(before) || !known.has(name) || name.startsWith(before)) return false
  return ![...known].some((each) => each.startsWith(before + name))
}

/** Nothing can follow arguments that are a whole object. */
const isWhole = ({ json }: OpenCall): boolean => isWholeText(json)

function isWholeText(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false
  try {
    return isJsonObject(JSON.parse(json))
  } catch {
    return false
  }
}

/** The name that pieces, repetitions or growing beginnings stand for: one that was offered where they can mean it. */
function nameOf({ names }: OpenCall, known: ReadonlySet<string>): string {
  const joined = names.join('')
  const last = names.at(-1) ?? ''
  const isRepeated = names.every((each) => each === last)
  const isGrown = names.every((each, at) => each.startsWith(names[at - 1] ?? ''))
  const meant = [joined, ...(isRepeated || isGrown ? [last] : [])].map((each) => withoutPrefix(each, known))
  return meant.find((each) => known.has(each)) ?? (isRepeated ? last : joined)
}

/** The training format of some models shows as `functions.name`. */
const withoutPrefix = (name: string, known: ReadonlySet<string>): string =>
  name.startsWith(PREFIX) && !known.has(name) ? name.slice(PREFIX.length) : name

const PREFIX = 'functions.'
