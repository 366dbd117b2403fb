/** Files of the workspace. They are saved, never shown: their content is other people's. */
import { safeText } from '../../base/escape-text.ts'
import type { FileView } from '../../operations/sessions.ts'
import { formatBytes } from '../parts/bytes.ts'
import { html, type View } from '../parts/html.ts'
import { Table } from '../parts/table.ts'
import { Age } from '../parts/moments.ts'
import { EmptyState, showUnread } from '../parts/states.ts'
import { useOperator } from '../wire/resource.ts'

export function FilesScreen(): View {
  const files = useOperator('GET /files', { query: { take: '200' } })
  const read = files.value
  return html`
    <section class="screen">
      <header class="screen-head">
        <h1>Files</h1>
        ${read && read.total > 0 && html`<span class="dim">${read.total.toLocaleString('en')}</span>`}
      </header>
      ${!read ? showUnread(files) : read.items.length === 0 ? html`<${EmptyState} icon="files" title="No file was uploaded yet." />` : html`<${FileTable} items=${read.items} />`}
    </section>
  `
}

const FileTable = ({ items }: { readonly items: readonly FileView[] }): View => html`
  <${Table} label="Files" heads=${['Name', 'Type', ['Size', 'num'], 'Uploaded', 'Used by']}>
    ${items.map(
      (file) => html`
        <tr key=${file.objectKey}>
          <td class="wide">
            <a href=${`/files/content?key=${encodeURIComponent(file.objectKey)}`} download=${file.filename}
              >${safeText(givenName(file.filename))}</a
            >
            <span class="sub file-name" title="The name by which an input names the file"
              >${safeText(file.filename)}</span
            >
          </td>
          <td class="dim">${safeText(file.mediaType)}</td>
          <td class="num kept">${formatBytes(file.sizeBytes)}</td>
          <td class="when"><${Age} at=${file.finalizedAt} /></td>
          <td>
            <a href=${`/runs?search=${encodeURIComponent(file.objectKey.split('/').at(-1)!)}`}>Used in runs</a>
          </td>
        </tr>
      `,
    )}
  </${Table}>
`

/** The name that the file was uploaded with: the server puts an id before it. */
const givenName = (filename: string): string => filename.replace(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}-(?=.)/, '')
