/** How the files of a project are divided into parts, and which of these have to do with each other. */
import { groupBy } from './group.ts'
import { directoryOf } from './paths.ts'
import type { Part, PartReport } from './part.ts'
import { topics } from './workspace.ts'

export interface Sizes {
  /** Files of a part: smaller bundles are put together, since each part has its price. */
  readonly few: number
  /** More files that belong to no bundle are divided. */
  readonly many: number
}

const SIZES: Sizes = { few: 16, many: 128 }

/** Directories of Bundle documents, as far as names tell: whether it is so is seen when they are read. */
export const likelyBundles = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => /bundle[^/]*$/i.test(path)).map(directoryOf)),
]

/** @param paths sorted */
export function divide(paths: readonly string[], bundles: readonly string[], { few, many } = SIZES): Part[] {
  const directories = new Set(bundles)
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    const bundle = bundleOver(directories, directoryOf(path))
    const group = groups.get(bundle)
    if (group === undefined) groups.set(bundle, [path])
    else group.push(path)
  }
  const loose = groups.get('') ?? []
  const parts: Part[] = []
  if (loose.length > many) {
    groups.delete('')
    for (let at = 0; at < loose.length; at += few) parts.push({ paths: loose.slice(at, at + few), isSplit: true })
  }
  let small: string[] = []
  for (const group of groups.values()) {
    small = small.concat(group)
    if (small.length < few) continue
    parts.push({ paths: small.toSorted(), isSplit: false })
    small = []
  }
  return small.length === 0 ? parts : [...parts, { paths: small.toSorted(), isSplit: false }]
}

/** The directory with a slash; empty where there is none. */
function bundleOver(bundles: ReadonlySet<string>, directory: string): string {
  for (let here = directory; ; here = directoryOf(here)) {
    if (bundles.has(here)) return `${here}/`
    if (here === '') return ''
  }
}

/** Parts that are linted together. */
export interface Union {
  readonly members: readonly number[]
  readonly part: Part
}

/** Finds who has to do with whom, the more the more is known. */
export function createUnions(parts: readonly Part[]): {
  /** Notes what a part, or the union that it stands for, asks for and holds. */
  note(part: number, report: PartReport): void
  /** All parts, each in the union to which it belongs. */
  unions(): readonly Union[]
} {
  const leaders = parts.map((_, number) => number)
  const leaderOf = (number: number): number => {
    while (leaders[number] !== number) number = leaders[number]!
    return number
  }
  const join = (one: number, other: number): void => {
    const [first, second] = [leaderOf(one), leaderOf(other)]
    leaders[Math.max(first, second)] = Math.min(first, second)
  }
  const noted: (readonly [part: number, report: PartReport])[] = []
  const askers = new Map<string, Set<number>>()
  const looks = new Map<string, Alike>()
  return {
    note(number, report) {
      noted.push([number, report])
      for (const topic of report.asks) add(askers, topic, number)
      for (const { kind, id, looks: look } of report.identities) {
        const key = `${kind} ${look}`
        const alike = looks.get(key)
        if (alike === undefined) looks.set(key, { id, parts: [number], differ: false })
        else {
          alike.parts.push(number)
          alike.differ ||= alike.id !== id
        }
      }
    },
    unions() {
      const beside = new Map<number, Set<string>>()
      const { holders, tools } = answers(parts, noted, askers)
      for (const [topic, asking] of askers) {
        const tool = tools.get(topic)
        for (const asker of asking)
          if (tool?.isPlain) for (const path of tool.paths) add(beside, asker, path)
          else for (const holder of holders.get(topic) ?? []) join(asker, holder)
      }
      for (const alike of looks.values()) if (alike.differ) for (const part of alike.parts) join(part, alike.parts[0]!)
      return [...groupBy(parts.keys(), leaderOf).values()].map((members) => ({
        members,
        part: union(parts, members, beside),
      }))
    },
  }
}

/** Documents whose ids people may take for one another. */
interface Alike {
  /** Of the first of them. */
  readonly id: string
  readonly parts: number[]
  /** True where another has another id. */
  differ: boolean
}

/** Which parts hold what is asked for, and which of it are tools: of most documents nobody asks from outside. */
function answers(
  parts: readonly Part[],
  noted: readonly (readonly [part: number, report: PartReport])[],
  asked: ReadonlyMap<string, unknown>,
): {
  readonly holders: ReadonlyMap<string, ReadonlySet<number>>
  readonly tools: ReadonlyMap<string, { readonly paths: ReadonlySet<string>; readonly isPlain: boolean }>
} {
  const holders = new Map<string, Set<number>>()
  const tools = new Map<string, { readonly paths: Set<string>; isPlain: boolean }>()
  if (asked.size === 0) return { holders, tools }
  const hold = (topic: string, number: number): void => {
    if (asked.has(topic)) add(holders, topic, number)
  }
  for (const [number, { paths }] of parts.entries()) for (const path of paths) hold(topics.path(path), number)
  for (const [number, { holds, identities }] of noted) {
    for (const topic of holds) hold(topic, number)
    for (const { kind, id, path, isPlain } of identities) {
      const topic = topics.id(kind, id)
      if (kind !== 'Tool' || !asked.has(topic)) continue
      const tool = tools.get(topic) ?? { paths: new Set(), isPlain: true }
      tools.set(topic, tool)
      tool.paths.add(path)
      tool.isPlain &&= isPlain
    }
  }
  return { holders, tools }
}

function union(
  parts: readonly Part[],
  members: readonly number[],
  known: ReadonlyMap<number, ReadonlySet<string>>,
): Part {
  const own = new Set(members.flatMap((each) => parts[each]!.paths))
  const beside = new Set(members.flatMap((each) => [...(known.get(each) ?? [])]).filter((path) => !own.has(path)))
  return {
    paths: [...own].sort(),
    isSplit: members.some((each) => parts[each]!.isSplit),
    ...(beside.size > 0 && { beside: [...beside].sort() }),
  }
}

function add<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}
