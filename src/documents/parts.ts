/** How the files of a project are divided into parts, and which of these have to do with each other. */
import { directoryOf } from './paths.ts'
import type { Part, PartReport } from './part.ts'
import { topics } from './workspace.ts'

export interface Sizes {
  /** Files of a part: smaller bundles are put together, since each part has its price. */
  readonly few: number
  /** A bundle with more files than these is divided itself. */
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
  const parts: Part[] = []
  let small: string[] = []
  for (const group of groups.values()) {
    if (group.length > many) {
      for (let at = 0; at < group.length; at += few) parts.push({ paths: group.slice(at, at + few), isSplit: true })
      continue
    }
    small.push(...group)
    if (small.length < few) continue
    parts.push({ paths: small, isSplit: false })
    small = []
  }
  return [...parts, { paths: small, isSplit: false }]
    .filter((part) => part.paths.length > 0)
    .map((part) => ({ ...part, paths: part.paths.toSorted() }))
}

/** The directory with a slash; empty where there is none. */
function bundleOver(bundles: ReadonlySet<string>, directory: string): string {
  for (let here = directory; ; here = directoryOf(here)) {
    if (bundles.has(here)) return `${here}/`
    if (here === '') return ''
  }
}

/** Parts that were linted together. */
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
  const holders = new Map<string, number[]>()
  const askers = new Map<string, Set<number>>()
  const looks = new Map<string, { readonly id: string; readonly parts: number[]; alike: boolean }>()
  for (const [number, { paths }] of parts.entries()) for (const path of paths) holders.set(topics.path(path), [number])
  return {
    note(number, { holds, asks, identities }) {
      for (const topic of holds) holders.set(topic, [...(holders.get(topic) ?? []), number])
      for (const topic of asks) askers.set(topic, (askers.get(topic) ?? new Set()).add(number))
      for (const each of identities) {
        const key = `${each.kind} ${each.looks}`
        const known = looks.get(key) ?? { id: each.id, parts: [], alike: false }
        looks.set(key, known)
        known.parts.push(number)
        if (known.id !== each.id) known.alike = true
      }
    },
    unions() {
      for (const [topic, asking] of askers)
        for (const holder of holders.get(topic) ?? []) for (const asker of asking) join(asker, holder)
      for (const { parts: all, alike } of looks.values()) if (alike) for (const each of all) join(each, all[0]!)
      const members = new Map<number, number[]>()
      for (const number of parts.keys()) {
        const leader = leaderOf(number)
        members.set(leader, [...(members.get(leader) ?? []), number])
      }
      return [...members.values()].map((all) => ({
        members: all,
        part:
          all.length === 1
            ? parts[all[0]!]!
            : {
                paths: all.flatMap((each) => parts[each]!.paths).sort(),
                isSplit: all.some((each) => parts[each]!.isSplit),
              },
      }))
    },
  }
}
