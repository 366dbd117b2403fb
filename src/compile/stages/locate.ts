/** Finds what to compile: the bundle and root agent that a path means. Source: docs/design/bundles-and-authority.md#members */
import { fail, isFailure } from '../../base/failure.ts'
import { asKind, type Document } from '../../documents/text/document.ts'
import { lockPathOf } from '../../documents/facts/lock/lock-file.ts'
import { directoryOf, isUnder } from '../../documents/text/paths.ts'
import { lockedDigests, lockedMcpDigests, lockedVersions, readLock } from '../state/lock-file.ts'
import { failUnchecked, reportFinding, typedDocument, type CompileState } from '../state/state.ts'
import { onlyItem } from '../../base/values/collections.ts'

/** @throws Failure `no_documents`, `ambiguous_reference` if the path means nothing or more than one thing */
export function locateSubject(state: CompileState): void {
  findSubject(state)
  readLocked(state)
}

/** Versions chosen by the lock are kept while they satisfy their ranges. */
function readLocked(state: CompileState): void {
  const document = state.bundle ?? state.subject
  if (!document) return
  const path = lockPathOf(state.workspace, document)
  state.lockPath = path
  if (!state.workspace.files.paths.includes(path)) return
  try {
    state.locked = readLock(state.workspace.text(path))
  } catch (error) {
    if (!isFailure(error)) throw error
    reportFinding(
      state,
      'bundle/lock-drift',
      { document, pointer: '' },
      error.message,
      error.fix === undefined ? {} : { fix: error.fix },
    )
  }
  state.pins = lockedVersions(state.locked, state.update)
  state.pinned = lockedDigests(state.locked, state.update)
  state.mcpPins = lockedMcpDigests(state.locked)
}

function findSubject(state: CompileState): void {
  const found = findRoot(state)
  if (found.kind === 'Bundle') return openBundle(state, found)
  state.subject = found
  if (found.kind !== 'Agent') return
  const bundle = state.workspace.documents.find(
    (each) => each.kind === 'Bundle' && rootOf(state, each)?.includes(found),
  )
  if (bundle) return openBundle(state, bundle)
  if (asKind(found, 'Agent')?.spec.agents?.length)
    reportFinding(
      state,
      'agent/needs-bundle',
      { document: found, pointer: '/spec/agents' },
      `${state.root || found.path} delegates to other agents, so it is published by a Bundle.`,
      {
        fix: 'Add a Bundle document whose spec.root is this agent.',
      },
    )
}

function findRoot(state: CompileState): Document {
  const { workspace } = state
  const root = state.root.replace(/^\.\//, '').replace(/\/+$/, '').replace(/^\.$/, '')
  const here = workspace.documentsAt(root)
  const [only] = here
  if (only) return here.find((each) => each.kind === 'Bundle') ?? here.find((each) => each.kind === 'Agent') ?? only
  const below = workspace.documents.filter((each) => isUnder(root, each.path))
  const bundles = below.filter((each) => each.kind === 'Bundle')
  const nearest = bundles.filter((each) => directoryOf(each.path) === root)
  const agents = below.filter((each) => each.kind === 'Agent')
  const candidates = [nearest, bundles, agents, below].find((each) => each.length > 0)
  if (!candidates) throw fail('no_documents', { where: root || workspace.root || '.' })
  const chosen = onlyItem(candidates)
  if (chosen === undefined)
    throw fail('ambiguous_reference', { text: root || '.', candidates: candidates.map((each) => each.path).join(', ') })
  return chosen
}

function openBundle(state: CompileState, bundle: Document): void {
  state.bundle = bundle
  if (!typedDocument(state, bundle, 'Bundle')) return
  const at = { document: bundle, pointer: '/spec/root' }
  const [root] = rootOf(state, bundle) ?? failUnchecked('bundle/root-missing', at)
  state.subject = root ?? failUnchecked('bundle/root-missing', at)
}

/** Agents in the file that `spec.root` names. */
function rootOf(state: CompileState, bundle: Document): readonly Document[] | undefined {
  const value = bundle.at('spec.root')[0]?.value
  if (typeof value !== 'string') return undefined
  const resolved = state.workspace.resolve(bundle, value)
  return 'path' in resolved
    ? state.workspace.documentsAt(resolved.path).filter((each) => each.kind === 'Agent')
    : undefined
}
