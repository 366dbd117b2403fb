/** A directory or a set of texts as a workspace. */
import { createFinding, type Diagnostic, type FindingPlace } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import { directoryFiles, IGNORE_FILE, memoryFiles, type FileContents, type ProjectFiles } from '../text/files.ts'
import { isGlob, parseGlobs } from '../text/ignore.ts'
import { isUnder, mayHoldDocuments } from '../text/paths.ts'
import { readDocuments } from './read.ts'
import { createSource } from '../text/source.ts'
import { createWorkspace, type Workspace } from './workspace.ts'
import { MAX_FILE_BYTES } from '../text/yaml.ts'

export interface LoadOptions {
  /**
   * Files, directories or globs, relative to the root: findings are of these only. A file that was named is held to be a document,
   * one that a glob or a directory leads to may be something else.
   */
  readonly focus?: readonly string[]
  /** Globs of the files that may hold documents; absent = every `.yaml`, `.yml` and `.json`. */
  readonly include?: readonly string[]
  /** What stands in for files, by path: what an editor or standard input holds. */
  readonly overlay?: FileContents
}

/**
 * Reads all documents below a directory. `node_modules`, dot directories and what `.svcignore` names are left out, symbolic links are not followed.
 * @throws the file system's error when the directory cannot be read
 */
export function loadWorkspace(root: string, options: LoadOptions = {}): Promise<Workspace> {
  return Promise.resolve().then(() => assemble(directoryFiles(root, options.overlay), options))
}

/** The same from memory: paths, relative and `/` separated, with their content. */
export function loadFiles(files: FileContents, options: Omit<LoadOptions, 'overlay'> = {}): Workspace {
  return assemble(memoryFiles(files), options)
}

function assemble(files: ProjectFiles, options: LoadOptions): Workspace {
  const { named, focus } = selectFiles(files, options)
  const included = options.include === undefined ? undefined : parseGlobs(options.include)
  const candidates = files.paths.filter(
    (path) =>
      named.has(path) ||
      (mayHoldDocuments(path) && !OURS_BUT_NO_DOCUMENT.test(path) && included?.matches(path) !== false),
  )
  const { root = '' } = files
  return createWorkspace({ root, files, ...readFiles(files, candidates, named), ...(focus && { focus }) })
}

export interface FileSelection {
  /** Files that were named. */
  readonly named: ReadonlySet<string>
  /** Files and directories of which findings are reported; absent = all. */
  readonly focus?: readonly string[]
}

/** What `options.focus` names in a directory: globs are matched as a shell would have done. */
export function selectFiles(files: ProjectFiles, options: Pick<LoadOptions, 'focus'>): FileSelection {
  const paths = options.focus
    ?.map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''))
    .map((path) => (path === '.' ? '' : path))
  const globs = paths?.filter((path) => isGlob(path) && !isThere(files, path)) ?? []
  const given = paths?.filter((path) => !globs.includes(path)) ?? []
  const named = new Set(given.filter((path) => !OF_OTHER_COMMANDS.test(path)))
  const focus = paths && [...given, ...matching(files, globs)]
  return { named, ...(focus !== undefined && !named.has('') && { focus }) }
}

const isThere = ({ paths }: ProjectFiles, path: string): boolean =>
  paths.some((each) => each === path || isUnder(path, each))

/** What a shell would have made of globs: files, and all that is in directories. */
function matching({ paths }: ProjectFiles, globs: readonly string[]): readonly string[] {
  if (globs.length === 0) return []
  const patterns = parseGlobs(globs.flatMap((glob) => [glob, `${glob}/**`]))
  return paths.filter((path) => patterns.matches(path))
}

/** Documents of files, what is wrong with their form, and which of the files hold any. */
function readFiles(
  files: ProjectFiles,
  paths: readonly string[],
  names: ReadonlySet<string>,
): { readonly documents: Document[]; readonly findings: Diagnostic[]; readonly read: string[] } {
  const documents: Document[] = []
  const findings: Diagnostic[] = []
  const read: string[] = []
  for (const path of paths) {
    const named = names.has(path)
    const bytes = bytesIn(files, path, named)
    if (bytes === undefined) continue
    if (!(bytes instanceof Uint8Array)) {
      read.push(path)
      findings.push(bytes)
      continue
    }
    const result = readDocuments({ path, bytes }, { named })
    if (result.documents.length > 0 || result.findings.length > 0) read.push(path)
    documents.push(...result.documents)
    findings.push(...result.findings)
  }
  return { documents, findings, read }
}

/** What a shell makes of `*` has these among it, and so has a list of changed files. */
const OF_OTHER_COMMANDS = /(?:^|\/)svc\.config\.ya?ml$|\.(?:scenario|policytest)\.ya?ml$/

/** Files of the project that are no documents, whatever is in them. */
const OURS_BUT_NO_DOCUMENT = /(?:^|\/)(?:svc\.config\.ya?ml|package(?:-lock)?\.json|tsconfig[^/]*\.json)$/

/** What a file holds, or why that is not looked at: it is too large, or this user may not read what may be a document. */
function bytesIn(files: ProjectFiles, path: string, named: boolean): Uint8Array | Diagnostic | undefined {
  const bytes = files.readUpTo(path, MAX_FILE_BYTES)
  if (bytes === 'larger') return named || looksLikeOurs(files.head(path)) ? tooLarge(path) : undefined
  const refusal = bytes === undefined ? files.refusal?.(path) : undefined
  if (refusal === undefined) return bytes
  return createFinding('doc/syntax', 'error', atTop(path), `The file cannot be read: ${refusal}.`, {
    fix: `Let it be read, or name it in ${IGNORE_FILE}.`,
  })
}

/** A large file of someone else's is none of our business. */
const looksLikeOurs = (head: Uint8Array): boolean =>
  /(?:^|[{,])\s*["']?apiVersion["']?\s*:\s*["']?svc\b/im.test(new TextDecoder().decode(head))

const tooLarge = (path: string): Diagnostic =>
  createFinding('doc/too-large', 'error', atTop(path), `The file is larger than ${MAX_FILE_BYTES / 1024} KiB.`, {
    fix: 'Move long texts to files of their own and name them with `ref`.',
  })

const atTop = (path: string): FindingPlace => ({ path, pointer: '', range: createSource(path, '').span(0, 0) })
