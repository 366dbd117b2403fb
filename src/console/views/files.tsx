/** Files of the workspace. They are saved, never shown: their content is other people's. */
import { safeText } from '../../base/text/escape-text.ts'
import type { FileView } from '../../operations/sessions.ts'
import { formatBytes } from '../parts/bytes.ts'
import type { View } from '../parts/view.ts'
import { Table } from '../parts/table.tsx'
import { Age } from '../parts/moments.tsx'
import { EmptyState, showUnread } from '../parts/states.tsx'
import { useOperator } from '../wire/resource.ts'
import { textAfterLast } from '../../base/text/text-parts.ts'

export function FilesScreen(): View {
  const files = useOperator('GET /files', { query: { take: '200' } })
  const read = files.value
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Files</h1>
        {read && read.total > 0 && <span class="dim">{read.total.toLocaleString('en')}</span>}
      </header>
      {!read && showUnread(files)}
      {read?.items.length === 0 && <EmptyState icon="files" title="No file was uploaded yet." />}
      {read !== undefined && read.items.length > 0 && <FileTable items={read.items} />}
    </section>
  )
}

const FileTable = ({ items }: { readonly items: readonly FileView[] }): View => (
  <Table label="Files" heads={['Name', 'Type', ['Size', 'num'], 'Uploaded', 'Used by']}>
    {items.map((file) => (
      <tr key={file.objectKey}>
        <td class="wide">
          <a href={`/files/content?key=${encodeURIComponent(file.objectKey)}`} download={file.filename}>
            {safeText(givenName(file.filename))}
          </a>
          <span class="sub file-name" title="The name by which an input names the file">
            {safeText(file.filename)}
          </span>
        </td>
        <td class="dim">{safeText(file.mediaType)}</td>
        <td class="num kept">{formatBytes(file.sizeBytes)}</td>
        <td class="when">
          <Age at={file.finalizedAt} />
        </td>
        <td>
          <a href={`/runs?search=${encodeURIComponent(textAfterLast(file.objectKey, '/'))}`}>Used in runs</a>
        </td>
      </tr>
    ))}
  </Table>
)

/** The name that the file was uploaded with: the server puts an id before it. */
const givenName = (filename: string): string => filename.replace(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}-(?=.)/, '')
