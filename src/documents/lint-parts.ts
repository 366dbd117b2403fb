/** Findings of a project that is linted part by part, on one thread or several. They are those of `lint`, whatever the division. */
import type { Kind } from '../spec/document.ts'
import type { Diagnostic } from './diagnostic.ts'
import { listedFiles, sameTrace, type Files, type Contents, type Listing, type Trace } from './files.ts'
import { conclude, createCheck, type LintOptions } from './lint.ts'
import { chosen, readFiles, type Chosen, type LoadOptions } from './load.ts'
import { lintPart, type Identity, type PartReport, type Round } from './part.ts'
import { createUnions, divide, likelyBundles, type Sizes, type Union } from './parts.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

/** All that a thread needs to take a share of the work. It can be sent to another one. */
export interface Order extends Pick<Chosen, 'candidates' | 'named'> {
  readonly root: string
  readonly listing: Listing
  readonly overlay: Contents
  readonly options: LintOptions
}

export interface Share {
  /** What lints a part of a round, by its number. */
  begin(round: Round): (part: number) => PartReport
}

export function createShare(
  { root, listing, overlay, candidates, named, options }: Order,
  files: Files = listedFiles(root, listing, overlay),
): Share & { readonly files: Files } {
  const { guardrails = [] } = options
  const setting = { root, files, named, candidates: new Set(candidates), guardrails, check: createCheck(options) }
  return {
    files,
    begin(round) {
      const known = { ...round, bundles: new Set(round.bundles) }
      return (part) => lintPart(setting, round.parts[part]!, known)
    },
  }
}

/** Who lints the parts of a round. */
export interface Crew {
  /** Reports by the number of the part. */
  run(round: Round): Promise<readonly PartReport[]>
  /** What others than this thread have read, by path. */
  readonly seen?: ReadonlyMap<string, Trace>
  /** Fulfilled when what it would leave behind is done. */
  close?(): Promise<unknown>
}

/** Works alone. */
export const alone = (share: Share): Crew => ({
  async run(round) {
    const lintOne = share.begin(round)
    const reports: PartReport[] = []
    for (let part = 0; part < round.parts.length; part++) {
      reports.push(lintOne(part))
      await hearing()
    }
    return reports
  },
})

/** Between two parts a process hears its signals: who presses Ctrl-C does not wait for the last of thousands of files. */
export const hearing = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** @param crewOf who does it, given the order and the files of this thread; absent = this thread alone */
export async function lintInParts(
  files: Files,
  load: LoadOptions,
  options: LintOptions,
  crewOf: (order: Order, files: Files) => Crew = (order, own) => alone(createShare(order, own)),
  sizes?: Sizes,
): Promise<{ readonly workspace: Workspace; readonly findings: Diagnostic[] }> {
  const { candidates, named, focus } = chosen(files, load)
  const { root = '', paths, links } = files
  const order = { root, listing: { paths, links }, overlay: load.overlay ?? {}, candidates, named, options }
  const crew = crewOf(order, files)
  try {
    const { reports, ...known } = await outcomeOf(crew, candidates, likelyBundles(candidates), sizes)
    const form = byPath(
      reports.flatMap((report) => report.form),
      ({ path }) => path,
    )
    const found = byPath(
      reports.flatMap((report) => report.findings!),
      ([path]) => path,
    )
    const suppressions = byPath(
      reports.flatMap((report) => report.suppressions),
      ({ at }) => at.path,
    )
    const workspace = distant({
      ...known,
      root,
      files: together(files, crew.seen),
      findings: form,
      read: reports.flatMap((report) => report.read).sort(),
      named,
      excerpts: reports.flatMap((report) => report.excerpts),
      ...(focus && { focus }),
    })
    const all = [...form, ...found.flatMap(([, each]) => each)]
    return { workspace, findings: conclude(workspace, all, suppressions, options) }
  } finally {
    await crew.close?.()
  }
}

/** The files of this thread, with what the others have read. */
function together(files: Files, others: ReadonlyMap<string, Trace> = new Map()): Files {
  const own = new Set(files.seen?.())
  return {
    ...files,
    trace(path) {
      const other = others.get(path)
      return other === undefined || own.has(path) ? sameTrace(files.trace!(path), other) : other
    },
    seen: () => [...new Set([...files.seen!(), ...others.keys()])],
  }
}

interface Outcome {
  readonly reports: readonly PartReport[]
  readonly bundles: readonly string[]
  /** Worked out when they are asked for: where no part depends on another, nobody does. */
  readonly ids: () => Readonly<Record<Kind, readonly string[]>>
}

async function outcomeOf(
  crew: Crew,
  candidates: readonly string[],
  bundles: readonly string[],
  sizes: Sizes | undefined,
): Promise<Outcome> {
  const parts = divide(candidates, bundles, sizes)
  const reports = await crew.run({ parts, bundles })
  const seen = new Set(reports.flatMap((report) => report.bundles))
  if (seen.size === bundles.length && bundles.every((each) => seen.has(each)))
    return await settle(crew, bundles, parts, reports)
  // A Bundle by another name, or another document by a Bundle's: now it is known.
  return await outcomeOf(crew, candidates, [...seen], sizes)
}

/** Lints together what has to do with each other, until nothing more does. */
async function settle(
  crew: Crew,
  bundles: readonly string[],
  parts: Round['parts'],
  first: readonly PartReport[],
): Promise<Outcome> {
  let sorted: ReturnType<Outcome['ids']> | undefined
  const ids: Outcome['ids'] = () => (sorted ??= idsOf(first.flatMap(({ identities }) => identities)))
  const known = createUnions(parts)
  for (const [number, report] of first.entries()) known.note(number, report)
  const reports = new Map(first.map((report, number) => [String(number), report]))
  for (;;) {
    const unions = known.unions().map((union) => ({ ...union, name: nameOf(union) }))
    const open = unions.filter(({ name }) => reports.get(name)?.findings === undefined)
    if (open.length === 0) return { reports: unions.map(({ name }) => reports.get(name)!), bundles, ids }
    const more = await crew.run({ parts: open.map(({ part }) => part), bundles, ids: ids() })
    for (const [at, { name, members }] of open.entries()) {
      reports.set(name, more[at]!)
      known.note(members[0]!, more[at]!)
    }
  }
}

/** What was linted together, and with what at hand. */
const nameOf = ({ members, part }: Union): string => [...members, ...(part.beside ?? [])].join('\0')

/** In the order of the documents. */
function idsOf(identities: readonly Identity[]): Record<Kind, readonly string[]> {
  const sorted = byPath(identities, ({ path }) => path)
  const of = (kind: Kind): string[] => sorted.filter((each) => each.kind === kind).map(({ id }) => id)
  return { Agent: of('Agent'), Tool: of('Tool'), Policy: of('Policy'), Bundle: of('Bundle') }
}

/** What stands in one file stays in its order. */
const byPath = <T>(all: readonly T[], pathOf: (each: T) => string): T[] =>
  all.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : pathOf(a) > pathOf(b) ? 1 : 0))

/** A workspace whose documents are read again where one is asked for: few are, once all are linted. */
function distant({
  bundles,
  ids,
  named,
  excerpts,
  ...parts
}: Pick<Workspace, 'root' | 'files' | 'findings' | 'read' | 'focus'> &
  Pick<Outcome, 'bundles' | 'ids'> &
  Pick<Chosen, 'named'> &
  Pick<PartReport, 'excerpts'>): Workspace {
  const rest = {
    bundles: new Set(bundles),
    get ids() {
      return ids()
    },
    isSplit: false,
    mayHold: () => false,
    ask: () => undefined,
  }
  const workspace = createWorkspace({ ...parts, documents: [], rest })
  const read = new Set(parts.read)
  const lines = new Map(excerpts)
  const known = new Map<string, ReturnType<Workspace['documentsAt']>>()
  return {
    ...workspace,
    documentsAt(path) {
      const documents = known.get(path) ?? (read.has(path) ? readFiles(parts.files, [path], named).documents : [])
      known.set(path, documents)
      return documents
    },
    line: (path, number) => lines.get(path)?.[number] ?? workspace.line(path, number),
  }
}
