/** Divides the samples of a CPU profile by subject: what a run pays for. */
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Profiler } from 'node:inspector'

type Frame = Profiler.ProfileNode['callFrame']

/** The first row that fits names the subject of a function, by its own file and name. */
const SUBJECTS: readonly (readonly [subject: string, fits: (file: string, name: string) => boolean])[] = [
  ['idle', (file, name) => name === '(idle)' || file === 'node:inspector'],
  ['garbage', (_, name) => name === '(garbage collector)'],
  ['JSON', (file, name) => name === 'parse' || name === 'stringify' || file.startsWith('src/base/json/')],
  ['statements', (file) => isIn(file, 'src/store', 'bench/profile', 'sqlite')],
  ['hashing', (file) => /^src\/base\/(?:digest|identity)|^node:internal\/crypto/.test(file)],
  ['model SDK', (file) => isIn(file, 'node_modules/openai')],
  ['policies', (file) => isIn(file, 'src/policy')],
  ['providers', (file) => isIn(file, 'src/providers')],
  ['tools', (file) => isIn(file, 'src/tools')],
  ['engine', (file) => isIn(file, 'src/engine')],
  ['server', (file) => isIn(file, 'src/server', 'node_modules/h3', 'node_modules/srvx')],
  ['timers', (file) => /^node:internal\/timers|^node:timers/.test(file)],
  ['sockets', (file) => /^node:(?:_http|net|stream|internal\/(?:streams|http|stream_base))/.test(file)],
  ['rest of Node', (file) => file.startsWith('node:') || file === ''],
  ['rest of svc', (file) => file.startsWith('src/')],
]

const isIn = (file: string, ...folders: readonly string[]): boolean => folders.some((each) => file.includes(`${each}/`))

export interface Share {
  readonly name: string
  /** Microseconds of the profile. */
  readonly us: number
}

/**
 * @param profile of a bundle that has source maps
 * @returns subjects and functions by their own time, largest first; what was idle is left out
 */
export function divideProfile(profile: Profiler.Profile): { subjects: Share[]; functions: Share[] } {
  const sourceOf = createSourceFinder()
  const subjects = new Map<string, number>()
  const functions = new Map<string, number>()
  const add = (map: Map<string, number>, name: string, us: number): void =>
    void map.set(name, (map.get(name) ?? 0) + us)
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const callers = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  /** Native functions have no file and belong to their caller. */
  const fileOf = (id: number | undefined): string => {
    const node = id === undefined ? undefined : nodes.get(id)
    return node === undefined ? '' : sourceOf(node.callFrame) || fileOf(callers.get(node.id))
  }
  profile.samples?.forEach((id, at) => {
    const frame = nodes.get(id)?.callFrame
    if (frame === undefined) return
    const us = profile.timeDeltas?.[at] ?? 0
    const file = fileOf(id)
    const subject = SUBJECTS.find(([, fits]) => fits(file, frame.functionName))?.[0] ?? 'libraries'
    if (subject === 'idle') return
    add(subjects, subject, us)
    add(functions, `${frame.functionName || '(anonymous)'} ${file}`.trim(), us)
  })
  return { subjects: largestFirst(subjects), functions: largestFirst(functions) }
}

const largestFirst = (map: ReadonlyMap<string, number>): Share[] =>
  [...map].map(([name, us]) => ({ name, us })).toSorted((a, b) => b.us - a.us)

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Finds the file that a function was written in, relative to the project; `node:…` for Node's own, empty for what V8 brings along. */
function createSourceFinder(): (frame: Frame) => string {
  const maps = new Map<string, SourceMap | undefined>()
  const mapOf = (file: string): SourceMap | undefined => {
    if (!maps.has(file)) maps.set(file, readMap(`${file}.map`))
    return maps.get(file)
  }
  return ({ url, lineNumber, columnNumber }) => {
    if (!url.startsWith('file:')) return url
    const file = fileURLToPath(url)
    const entry = mapOf(file)?.findEntry(lineNumber, columnNumber)
    const source = entry !== undefined && 'originalSource' in entry ? join(dirname(file), entry.originalSource) : file
    return relative(ROOT, source)
  }
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}
