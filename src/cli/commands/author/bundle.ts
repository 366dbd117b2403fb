import { basename, resolve } from 'node:path'
import { writeArchive } from '../../../compile/package/archive.ts'
import { bundleParts } from '../../../compile/bundle-parts.ts'
import { bundleTree, type TreeEdge, type TreeNode } from '../../../compile/bundle-tree.ts'
import { packBundle } from '../../../compile/package/pack.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { truncateText } from '../../../terminal/text.ts'
import { widthOf } from '../../../terminal/width.ts'
import { isArchivePath, openArchiveAt } from '../../release/archives.ts'
import { buildWithRegistry, type BundleBuild } from '../../release/build.ts'
import { buildAt } from '../../release/closures.ts'
import type { CommandContext } from '../../shell/command.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { planOf } from '../../release/plan.ts'
import { openProject } from '../../project/project.ts'
import { hasRegistry } from '../../project/registry.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { countNoun } from '../../shell/counted.ts'
import { addSignature, openSigner } from '../../trust/signer.ts'
import { statePublication } from '../../trust/state-publication.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { packAnswer, partsAnswer, treeAnswer, verifyAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function bundleTreeCommand(call: CommandContext<ValueOf<typeof treeAnswer>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const project = await openProject(call)
  const { bundle, lock } = soundBuild(call, await buildAt(call, project, given.argument(0) ?? cwd))
  const tree = bundleTree(bundle, lock)
  if (mode.json) return await out.json(tree)
  const nodeOf = (kind: string, id: string | null): TreeNode | undefined =>
    tree.nodes.find((node) => node.id === id && node.kind === kind)
  const { width } = answerScreen(call)
  /** The whole text, or what of it has room: digests go first, then paths. */
  const print = (lead: string, textOf: (of: NodeDetail) => string): void => {
    const texts = NODE_DETAILS.map((of) => safeText(lead + textOf(of)))
    const [text = texts.at(-1) ?? lead] = texts.filter((each) => widthOf(each) <= width)
    out.line(truncateText(text, width))
  }
  const draw = (id: string, lead: string, above: readonly string[]): void => {
    const edges = tree.edges.filter(({ from }) => from === id)
    edges.forEach((edge, index) => {
      const last = index === edges.length - 1
      print(`${lead}${last ? '└─' : '├─'} `, (of) => edgeText(edge, nodeOf(edge.kind, edge.to), of))
      if (edge.kind === 'agent' && !edge.lateBound && !above.includes(edge.to))
        draw(edge.to, `${lead}${last ? '   ' : '│  '}`, [...above, edge.to])
    })
  }
  const root = nodeOf('agent', tree.root) ?? tree.nodes[0]
  if (root) print('', (of) => nodeText(root, of))
  if (tree.root !== null) draw(tree.root, '', [tree.root])
}

function edgeText({ kind, to, lateBound, requested }: TreeEdge, node: TreeNode | undefined, of: NodeDetail): string {
  const wanted = requested === undefined ? '' : `  (wanted ${requested})`
  if (lateBound || !node) return `${kind.padEnd(6)} ${to}${lateBound ? '  late bound, not in closure' : ''}${wanted}`
  return `${kind.padEnd(6)} ${nodeText(node, of)}${wanted}`
}

/** How much is told of a document, the most first. */
const NODE_DETAILS = ['digest', 'path', 'name'] as const
type NodeDetail = (typeof NODE_DETAILS)[number]

const nodeText = ({ id, version, path, digest }: TreeNode, of: NodeDetail): string =>
  [
    `${id}${version === null ? '' : `@${version}`}`,
    ...(path === null || of === 'name' ? [] : [path]),
    ...(of === 'digest' ? [`${digest.slice(0, 15)}…`] : []),
  ].join('  ')

/** `svc bundle pack [bundle] -o FILE`. */
export async function bundlePack(call: CommandContext<ValueOf<typeof packAnswer>>): Promise<void> {
  const { given, mode, out, io, cwd } = call
  const project = await openProject(call)
  const path = given.argument(0) ?? cwd
  const packed = isArchivePath(path) ? await openArchiveAt(call, path === '-' ? path : resolve(cwd, path)) : undefined
  const built = await buildWithRegistry(call, { project, path: resolve(cwd, path), ...(packed && { archive: packed }) })
  const { bundle, lock, compiled } = soundBuild(call, built)
  if (compiled.document === undefined) throw usageFailure('There is nothing to pack.')
  const archive = packed ?? packBundle(built.workspace, compiled.document, lock)
  const attestations = [...(packed?.attestations ?? [])]
  const key = given.text('sign')
  if (key !== undefined) {
    const signer = await openSigner(call, key)
    // Without a registry nobody knows what the bundle changes, and it counts as wider.
    const plan = hasRegistry(project) ? await withOperatorOf(project, call, (from) => planOf(from, bundle)) : undefined
    const build = { workspace: built.workspace, compiled, archive: packed }
    attestations.push(await addSignature(signer, await statePublication(call, build, bundle, plan)))
  }
  const { bytes, digest } = await writeArchive({ ...archive, attestations })
  const file =
    given.text('output') ??
    `${lock.bundle ? `${lock.bundle.id}-${lock.bundle.version}` : basename(compiled.document).replace(/\.[^.]+$/, '')}.tgz`
  if (file === '-') {
    if (!io.writeBytes) throw usageFailure('Bytes cannot be written here.')
    io.writeBytes(bytes)
  } else await writeUserFile(resolve(cwd, file), bytes)
  const documents = archive.files.size
  const signed = attestations.length
  if (file === '-') return out.hint(`packed ${documents} files, ${digest}`)
  if (mode.json) return await out.json({ file, size: bytes.length, digest, documents, signed })
  const signatures = signed === 0 ? '' : `  ${countNoun(signed, 'attestation')}`
  out.line(`${safeText(file)}  ${bytes.length} bytes  ${documents} files  ${digest}${signatures}`)
}

/** `svc bundle sbom [bundle]`: CycloneDX is JSON, so people and programs get the same text. */
export async function bundleSbom(call: CommandContext<ValueOf<typeof partsAnswer>>): Promise<void> {
  const { given, out, cwd } = call
  const project = await openProject(call)
  const { bundle, lock } = soundBuild(call, await buildAt(call, project, given.argument(0) ?? cwd))
  const parts = bundleParts(bundle, lock)
  const file = given.text('output')
  if (file === undefined) return await out.json(parts)
  await writeUserFile(resolve(cwd, file), `${JSON.stringify(parts, null, 2)}\n`)
  out.hint(`wrote ${safeText(file)}`)
}

/** `svc bundle verify FILE`: digests, shape and closure. */
export async function bundleVerify(call: CommandContext<ValueOf<typeof verifyAnswer>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const file = given.required(0)
  const project = await openProject(call)
  const archive = await openArchiveAt(call, file === '-' ? file : resolve(cwd, file))
  const { bundle } = soundBuild(call, await buildWithRegistry(call, { project, path: resolve(cwd, file), archive }))
  const verified = {
    ok: true,
    file,
    digest: archive.digest,
    documents: archive.files.size,
    root: bundle.root ?? null,
    closureDigest: bundle.closureDigest,
  }
  if (mode.json) return await out.json(verified)
  out.line(`${safeText(file)}  ok  ${archive.files.size} files  ${archive.digest}`)
}

function soundBuild(call: CommandContext, { workspace, findings, compiled }: BundleBuild) {
  printFindings(call, findings, workspace)
  if (!compiled?.bundle || !compiled.lock) throw documentsFailure(findings, call)
  return { bundle: compiled.bundle, lock: compiled.lock, compiled }
}
