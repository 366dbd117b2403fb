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
   * Files, directories or globs, relative to the root, whose findings are reported. A file named here must be a document; one
   * that a glob or directory matches may be something else.
   */
  readonly focus?: readonly string[]
  /** Globs of the files that may hold documents; absent = every `.yaml`, `.yml` and `.json`. */
  readonly include?: readonly string[]
  /** Texts that replace files, by path: unsaved text of an editor, or standard input. */
  readonly overlay?: FileContents
}

/**
 * Reads all documents below a directory. Skips `node_modules`, dot directories and paths in `.svcignore`; does not follow
 * symbolic links.
 * @throws the file system's error when the directory cannot be read
 */
export function loadWorkspace(root: string, options: LoadOptions = {}): Promise<Workspace> {
  return Promise.resolve().then(() => assemble(directoryFiles(root, options.overlay), options))
}

/** Loads a workspace from memory: relative, `/` separated paths with their content. */
export function loadFiles(files: FileContents, options: Omit<LoadOptions, 'overlay'> = {}): Workspace {
  return assemble(memoryFiles(files), options)
}

function assemble(files: ProjectFiles, options: LoadOptions): Workspace {
  const { named, focus } = selectFiles(files, options)
  const included = options.include === undefined ? undefined : parseGlobs(options.include)
  const candidates = files.paths.filter(
    (path) =>
      named.has(path) || (mayHoldDocuments(path) && !NEVER_A_DOCUMENT.test(path) && included?.matches(path) !== false),
  )
  const { root = '' } = files
  return createWorkspace({ root, files, ...readFiles(files, candidates, named), ...(focus && { focus }) })
}

export interface FileSelection {
  /** Files named individually. */
  readonly named: ReadonlySet<string>
  /** Files and directories of which findings are reported; absent = all. */
  readonly focus?: readonly string[]
}

/** The files that `options.focus` selects; matches globs as a shell does. */
export function selectFiles(files: ProjectFiles, options: Pick<LoadOptions, 'focus'>): FileSelection {
  const paths = options.focus
    ?.map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''))
    .map((path) => (path === '.' ? '' : path))
  const globs = paths?.filter((path) => isGlob(path) && !isThere(files, path)) ?? []
  const given = paths?.filter((path) => !globs.includes(path)) ?? []
  const named = new Set(given.filter((path) => !READ_BY_OTHER_COMMANDS.test(path)))
  const focus = paths && [...given, ...matching(files, globs)]
  return { named, ...(focus !== undefined && !named.has('') && { focus }) }
}

const isThere = ({ paths }: ProjectFiles, path: string): boolean =>
  paths.some((each) => each === path || isUnder(path, each))

/** Files that globs match, including everything in matched directories. */
function matching({ paths }: ProjectFiles, globs: readonly string[]): readonly string[] {
  if (globs.length === 0) return []
  const patterns = parseGlobs(globs.flatMap((glob) => [glob, `${glob}/**`]))
  return paths.filter((path) => patterns.matches(path))
}

/** Documents of files, faults in their form, and the files that hold either. */
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

/** Never documents, even when named: `*` in a shell and lists of changed files include them. */
export const READ_BY_OTHER_COMMANDS = /(?:^|\/)svc\.config\.ya?ml$|\.(?:scenario|policytest)\.ya?ml$/

/** Files of a project that are never documents, whatever they contain. */
const NEVER_A_DOCUMENT = /(?:^|\/)(?:svc\.config\.ya?ml|package(?:-lock)?\.json|tsconfig[^/]*\.json)$/

/** The content of a file, or the finding that it is too large or unreadable; undefined for a file that is none of ours. */
function bytesIn(files: ProjectFiles, path: string, named: boolean): Uint8Array | Diagnostic | undefined {
  const bytes = files.readUpTo(path, MAX_FILE_BYTES)
  if (bytes === 'larger') return named || declaresApiVersion(files.head(path)) ? tooLarge(path) : undefined
  const refusal = bytes === undefined ? files.refusal?.(path) : undefined
  if (refusal === undefined) return bytes
  return createFinding('doc/syntax', 'error', atTop(path), `The file cannot be read: ${refusal}.`, {
    fix: `Let it be read, or name it in ${IGNORE_FILE}.`,
  })
}

/** True for a large file that declares our `apiVersion`; other large files are skipped silently. */
const declaresApiVersion = (head: Uint8Array): boolean =>
  /(?:^|[{,])\s*["']?apiVersion["']?\s*:\s*["']?svc\b/im.test(new TextDecoder().decode(head))

const tooLarge = (path: string): Diagnostic =>
  createFinding('doc/too-large', 'error', atTop(path), `The file is larger than ${MAX_FILE_BYTES / 1024} KiB.`, {
    fix: 'Move long texts to files of their own and name them with `ref`.',
  })

const atTop = (path: string): FindingPlace => ({ path, pointer: '', range: createSource(path, '').span(0, 0) })
