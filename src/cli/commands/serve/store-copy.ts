/** `svc store copy`: moves everything between the data directory and a database that several servers share. */
import { isDeepStrictEqual } from 'node:util'
import { basename, dirname, resolve } from 'node:path'
import { silentLog } from '../../../base/log.ts'
import type { Blobs } from '../../../blobs/blobs.ts'
import type { ObjectStorage } from '../../../server/runtime/open/storage.ts'
import type { CopySource, CopyTarget } from '../../../store/copy/copy-side.ts'
import type { copyAnswer, reopenedAnswer } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { openProject, type Project } from '../../project/project.ts'
import { readStoreUrl } from '../../project/store-url.ts'
import { writeWorkspaceName } from '../../project/workspace-file.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { withSpinner } from '../../shell/screen/spinner.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

type CopyCall = CommandContext<ValueOf<typeof copyAnswer> | ValueOf<typeof reopenedAnswer>>

/** The name of a store in messages. */
type NamedStore = { readonly directory: string } | { readonly url: string }

/** Time between two updates of the spinner's text. */
const TELL_EVERY_MS = 100

/** @throws Failure `usage`, `store_absent`, `store_served`, `store_locked`, `store_not_empty`, `store_moved`, and those of a store */
export async function copy(call: CopyCall): Promise<void> {
  const { given, mode, out } = call
  const project = await openProject(call)
  const from = readStore(given.required(0), call, project)
  if (given.flag('reopen')) return await reopen(call, from)
  const named = given.argument(1)
  if (named === undefined)
    throw usageFailure('svc store copy takes two stores.', 'svc store copy sqlite: postgres://svc@db/svc')
  const to = readStore(named, call, project)
  const { copyStore } = await import('../../../store/copy/copy-store.ts')
  const { listCopiedFiles } = await import('../../../store/copy/copied-files.ts')
  const { copyObjects } = await import('../../../server/runtime/upkeep/copy-objects.ts')
  const storages = storagesOf(call, project, from, to)
  const source = await openSource(from)
  try {
    for await (const _ of listCopiedFiles(source)) {
      checkStorages(storages)
      break
    }
    const target = await openTarget(to)
    try {
      if ('directory' in to) writeWorkspaceName(to.directory, project.workspace)
      let files = 0
      const { rows, digest } = await withSpinner(call, `Copying ${source.name} to ${target.name}`, (tell) => {
        const tellSometimes = atMostEvery(TELL_EVERY_MS, tell)
        return copyStore(
          source,
          target,
          ({ doing, table, rows: done }) => tellSometimes(`${doing} ${table}: ${countNoun(done, 'row')}`),
          async () => {
            if (isDeepStrictEqual(storages.from, storages.to)) return
            files = await betweenStorages(call, project, storages, (blobsFrom, blobsTo) =>
              copyObjects(listCopiedFiles(source), blobsFrom, blobsTo, (done) =>
                tellSometimes(`copying files: ${done}`),
              ),
            )
          },
        )
      })
      if (mode.json) return await out.json({ from: source.name, to: target.name, rows, files, digest })
      out.line(`copied ${countNoun(rows, 'row')} and ${countNoun(files, 'file')} from ${source.name} to ${target.name}`)
      out.message(`${source.name} is closed: its runs continue where the copy is served`)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Reopens the source of a discarded copy. If both were served, every effect would happen twice. */
async function reopen(call: CopyCall, store: NamedStore): Promise<void> {
  const { mode, out } = call
  const name =
    'directory' in store
      ? store.directory
      : (await import('../../../store/postgres/database/pool.ts')).describeUrl(store.url)
  if (!(await confirmLoss(call, `Serve ${name} again? If its copy is served too, everything is done twice.`)))
    return out.message('kept')
  const to =
    'directory' in store
      ? (await import('../../../store/copy/sqlite-side.ts')).reopenDirectory(store.directory)
      : await (await import('../../../store/copy/postgres-side.ts')).reopenDatabase(store.url, await schemaName())
  if (mode.json) return await out.json({ reopened: name, copy: to ?? null })
  out.line(to === undefined ? `${name} was not closed` : `${name} may be served again; ${to} must not be`)
}

const schemaName = async (): Promise<string> => (await import('../../../store/postgres/open.ts')).SCHEMA

const openSource = async (store: NamedStore): Promise<CopySource> =>
  'directory' in store
    ? (await import('../../../store/copy/sqlite-side.ts')).openSqliteSource(store.directory)
    : await (await import('../../../store/copy/postgres-side.ts')).openPostgresSource(store.url, await schemaName())

const openTarget = async (store: NamedStore): Promise<CopyTarget> =>
  'directory' in store
    ? (await import('../../../store/copy/sqlite-side.ts')).openSqliteTarget(store.directory)
    : await (await import('../../../store/copy/postgres-side.ts')).openPostgresTarget(store.url, await schemaName())

/** `sqlite:` is the data directory of the project; `sqlite:data.db` is that of the file. */
function readStore(text: string, { cwd }: CopyCall, project: Project): NamedStore {
  if (!text.startsWith('sqlite:')) {
    const url = readStoreUrl(text)
    if (url !== undefined) return { url }
    throw usageFailure('A store is missing.', 'sqlite:, sqlite:DIRECTORY or postgres://user@host/database')
  }
  const path = text.slice('sqlite:'.length)
  if (path === '') return { directory: project.dataDirectory }
  const full = resolve(cwd, path)
  return { directory: basename(full) === 'data.db' ? dirname(full) : full }
}

/** Where the files of a store are: in its directory, or in a bucket. */
type FilePlace = { readonly directory: string } | { readonly url: string }

interface FilePlaces {
  /** Undefined if no bucket was given. */
  readonly from: FilePlace | undefined
  readonly to: FilePlace | undefined
}

function storagesOf({ given }: CopyCall, { config }: Project, from: NamedStore, to: NamedStore): FilePlaces {
  const own = config.storage?.url
  const bucket = given.text('storage') ?? own
  const placeOf = (store: NamedStore): FilePlace | undefined => {
    if ('url' in store) return bucket === undefined ? undefined : { url: bucket }
    return own === undefined ? { directory: store.directory } : { url: own }
  }
  return { from: placeOf(from), to: placeOf(to) }
}

function checkStorages({ from, to }: FilePlaces): void {
  if (from === undefined || to === undefined)
    throw usageFailure(
      'The store has files, and servers that share a database keep them in a bucket.',
      'Add --storage s3://bucket[?endpoint=…], or storage.url in svc.config.yaml.',
    )
}

async function betweenStorages(
  { io }: CopyCall,
  { config }: Project,
  { from, to }: FilePlaces,
  work: (from: Blobs, to: Blobs) => Promise<number>,
): Promise<number> {
  if (from === undefined || to === undefined) return 0
  const { openEmbedded, openS3 } = await import('../../../server/runtime/open/storage.ts')
  const open = async (place: FilePlace): Promise<ObjectStorage> =>
    'directory' in place
      ? await openEmbedded({
          directory: place.directory,
          host: '127.0.0.1',
          port: 0,
          hosts: [],
          clock: io.clock,
          log: silentLog,
        })
      : openS3(place.url, config.storage?.region)
  const source = await open(from)
  try {
    const target = await open(to)
    try {
      return await work(source.blobs, target.blobs)
    } finally {
      await target.close(0)
    }
  } finally {
    await source.close(0)
  }
}

function atMostEvery(ms: number, tell: (text: string) => void): (text: string) => void {
  let last = 0
  return (text) => {
    const now = performance.now()
    if (now - last < ms) return
    last = now
    tell(text)
  }
}
