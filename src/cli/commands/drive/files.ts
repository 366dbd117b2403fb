import { basename, resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { fileItem, fileRef, type FileItem, type FileRef } from '../../../client/index.ts'
import type { FileView } from '../../../operations/sessions.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { openUserFile } from '../../files/read-file.ts'
import { formatSize, readSize } from '../../files/size.ts'
import { actOnEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { OPERATOR_URL } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { listCommand } from '../../project/request-command.ts'
import { remoteError } from '../../../client/remote-error.ts'
import { stdinBytes } from '../../files/stdin-bytes.ts'
import { withTarget } from '../../project/server/target.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { downloadedFile, uploadedFiles } from '../../answers/drive.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

interface Uploaded {
  readonly objectKey: string
  readonly filename: string
  readonly mediaType: string
  readonly bytes: number
  readonly inputRef: FileRef
  readonly messageRef: FileItem
}

/** Presigns, PUTs and finalizes one file after the other, so that every file reported as uploaded is complete. */
export async function filesUpload(call: CommandContext<ValueOf<typeof uploadedFiles>>): Promise<number> {
  const { given, mode, out, cwd, io, signal } = call
  const [files, name, mediaType] = [given.rest(0), given.text('name'), given.text('media-type')]
  const most = readSize(given.text('max-size'), 'max-size')
  if (files.includes('-') && name === undefined) throw usageFailure('Standard input has no name.', '--name invoice.pdf')
  if (name !== undefined && files.length > 1)
    throw usageFailure('--name is for one file.', 'Upload the others without it.')
  const about = { ...(name !== undefined && { filename: name }), ...(mediaType !== undefined && { mediaType }) }
  return await withTarget(call, (target) => {
    const upload = async (file: string): Promise<Uploaded> => {
      const source =
        file === '-' ? new Blob([new Uint8Array(await stdinBytes(io))]) : await openUserFile(resolve(cwd, file), file)
      const bytes = source.size
      if (most !== undefined && bytes > most)
        throw fail('file_too_large', { limit: most }, { fix: `${file} has ${bytes} bytes.` })
      const stored = await target.client.uploadWorkspaceFile(source, { ...about, signal })
      const { objectKey, filename } = stored
      if (!mode.json) {
        const shown = [safeText(name ?? basename(file)), stored.mediaType]
        out.line(
          io.stdout.isTTY
            ? `${shown.join('  ')}  ${formatSize(bytes)}  → ${objectKey}`
            : [...shown, bytes, objectKey].join('\t'),
        )
        if (file === files[0]) out.hint(`use it:  svc run AGENT document:='${JSON.stringify(fileRef(stored))}'`)
      }
      return {
        objectKey,
        filename,
        mediaType: stored.mediaType,
        bytes,
        inputRef: fileRef(stored),
        messageRef: fileItem(stored),
      }
    }
    return actOnEach(call, files, upload, (filename, error) => ({ filename, error }))
  })
}

const columns = (now: number): readonly TableColumn<FileView>[] => [
  { title: 'FILE', cell: ({ filename }) => filename, plain: ({ objectKey }) => objectKey },
  { title: 'TYPE', cell: ({ mediaType }) => mediaType },
  {
    title: 'SIZE',
    cell: ({ sizeBytes }) => formatSize(sizeBytes),
    plain: ({ sizeBytes }) => String(sizeBytes),
    align: 'right',
  },
  timeColumn('UPLOADED', ({ finalizedAt }) => finalizedAt, now),
]

export const filesList = listCommand('GET /files', {
  ask: ({ given }) => ({
    query: {
      skip: wholeNumber(given.text('skip'), 'skip')?.toString(),
      take: wholeNumber(given.text('take'), 'take', 1)?.toString(),
    },
  }),
  columns,
  nothing: 'No files. svc files upload brings one.',
})

/** Writes the bytes to a file or to stdout, but never to a terminal, since a file may hold control sequences. */
export async function filesGet(call: CommandContext<ValueOf<typeof downloadedFile>>): Promise<void> {
  const { given, mode, out, cwd, io } = call
  const [key, to] = [given.required(0), given.text('output') ?? '-']
  if (to === '-' && io.stdout.isTTY) throw usageFailure('A file is not written to a terminal.', `-o ${basename(key)}`)
  if (to === '-' && mode.json) throw usageFailure('With --json the bytes go to a file.', '-o FILE')
  await withOperator(call, async (operator) => {
    const url = new URL('/files/content', OPERATOR_URL)
    url.searchParams.set('key', key)
    const response = await operator.send(new Request(url))
    if (!response.ok) throw remoteError(response.status, 'GET /files/content', await response.text())
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (to === '-') return io.writeBytes?.(bytes)
    await writeUserFile(resolve(cwd, to), bytes)
    if (mode.json) return await out.json({ objectKey: key, file: to, bytes: bytes.length })
    out.hint(`wrote ${to} (${formatSize(bytes.length)})`)
  })
}
