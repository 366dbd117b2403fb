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

const SIZES: Sizes = { few: 32, many: 128 }

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
    small.push(...group)
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
  const holders = new Map<string, Set<number>>()
  const askers = new Map<string, Set<number>>()
  const looks = new Map<string, Set<number>>()
  const likes = new Map<string, Set<string>>()
  const tools = new Map<string, { readonly paths: Set<string>; isPlain: boolean }>()
  for (const [number, { paths }] of parts.entries()) for (const path of paths) add(holders, topics.path(path), number)
  return {
    note(number, { holds, asks, identities }) {
      for (const topic of holds) add(holders, topic, number)
      for (const topic of asks) add(askers, topic, number)
      for (const { kind, id, path, looks: look, isPlain } of identities) {
        add(looks, `${kind} ${look}`, number)
        add(likes, `${kind} ${look}`, id)
        if (kind !== 'Tool') continue
        const tool = tools.get(topics.id(kind, id)) ?? { paths: new Set(), isPlain: true }
        tools.set(topics.id(kind, id), tool)
        tool.paths.add(path)
        tool.isPlain &&= isPlain
      }
    },
    unions() {
      const beside = new Map<number, Set<string>>()
      for (const [topic, asking] of askers) {
        const tool = tools.get(topic)
        for (const asker of asking)
          if (tool?.isPlain) for (const path of tool.paths) add(beside, asker, path)
          else for (const holder of holders.get(topic) ?? []) join(asker, holder)
      }
      for (const [look, alike] of looks) {
        const [first, ...others] = likes.get(look)!.size > 1 ? alike : []
        for (const other of others) join(other, first!)
      }
      return [...groupBy(parts.keys(), leaderOf).values()].map((members) => ({
        members,
        part: union(parts, members, beside),
      }))
    },
  }
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
