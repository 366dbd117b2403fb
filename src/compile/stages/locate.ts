/** What is compiled: the bundle and root agent that a path means. Source: bundles, section 1. */
import { fail, isFailure } from '../../base/failure.ts'
import type { Document } from '../../documents/text/document.ts'
import { lockPathOf } from '../../documents/facts/lock-file.ts'
import { directoryOf, isUnder } from '../../documents/text/paths.ts'
import { digestsOf, mcpPinsOf, pinsOf, readLock } from '../state/lock-file.ts'
import { reportFinding, typedDocument, type CompileState } from '../state/state.ts'

/** @throws Failure `no_documents`, `ambiguous_reference` where the path means nothing or more than one thing */
export function locateSubject(work: CompileState): void {
  findSubject(work)
  readLocked(work)
}

/** Versions that the lock chose are kept while they satisfy. */
function readLocked(work: CompileState): void {
  const document = work.bundle ?? work.subject
  if (!document) return
  const path = lockPathOf(work.workspace, document)
  work.lockPath = path
  if (!work.workspace.files.paths.includes(path)) return
  try {
    work.locked = readLock(work.workspace.text(path))
  } catch (error) {
    if (!isFailure(error)) throw error
    reportFinding(work, 'bundle/lock-drift', { document, pointer: '' }, error.message, { fix: error.fix! })
  }
  work.pins = pinsOf(work.locked, work.update)
  work.pinned = digestsOf(work.locked, work.update)
  work.mcpPins = mcpPinsOf(work.locked)
}

function findSubject(work: CompileState): void {
  const found = findRoot(work)
  if (found.kind === 'Bundle') return openBundle(work, found)
  work.subject = found
  if (found.kind !== 'Agent') return
  const bundle = work.workspace.documents.find((each) => each.kind === 'Bundle' && rootOf(work, each)?.includes(found))
  if (bundle) return openBundle(work, bundle)
  const agent = typedDocument(work, found, 'Agent')
  if (agent?.spec.agents?.length)
    reportFinding(
      work,
      'agent/needs-bundle',
      { document: found, pointer: '/spec/agents' },
      `${work.root || found.path} delegates to other agents, so it is published by a Bundle.`,
      {
        fix: 'Add a Bundle document whose spec.root is this agent.',
      },
    )
}

function findRoot(work: CompileState): Document {
  const { workspace } = work
  const root = work.root.replace(/^\.\//, '').replace(/\/+$/, '').replace(/^\.$/, '')
  const here = workspace.documentsAt(root)
  const [only] = here
  if (only) return here.find((each) => each.kind === 'Bundle') ?? here.find((each) => each.kind === 'Agent') ?? only
  const below = workspace.documents.filter((each) => isUnder(root, each.path))
  const bundles = below.filter((each) => each.kind === 'Bundle')
  const nearest = bundles.filter((each) => directoryOf(each.path) === root)
  const agents = below.filter((each) => each.kind === 'Agent')
  const candidates = [nearest, bundles, agents, below].find((each) => each.length > 0)
  if (!candidates) throw fail('no_documents', { where: root || workspace.root || '.' })
  if (candidates.length > 1)
    throw fail('ambiguous_reference', { text: root || '.', candidates: candidates.map((each) => each.path).join(', ') })
  return candidates[0]!
}

function openBundle(work: CompileState, bundle: Document): void {
  work.bundle = bundle
  const value = typedDocument(work, bundle, 'Bundle')
  if (!value) return
  const at = { document: bundle, pointer: '/spec/root' }
  const agents = rootOf(work, bundle)
  const [root, ...others] = agents ?? []
  if (!root)
    return reportFinding(work, 'bundle/root-missing', at, `spec.root names no Agent document: ${value.spec.root}.`)
  work.subject = root
  if (others.length > 0 || work.workspace.documentsAt(root.path).length > 1)
    reportFinding(
      work,
      'doc/multiple-documents',
      { document: root, pointer: '' },
      `${root.path} is the root agent's file; it holds one document.`,
    )
}

/** Agents in the file that `spec.root` names. */
function rootOf(work: CompileState, bundle: Document): readonly Document[] | undefined {
  const value = bundle.at('spec.root')[0]?.value
  if (typeof value !== 'string') return undefined
  const resolved = work.workspace.resolve(bundle, value)
  return 'path' in resolved
    ? work.workspace.documentsAt(resolved.path).filter((each) => each.kind === 'Agent')
    : undefined
}
