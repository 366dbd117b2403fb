/** The frame of a table: it scrolls within the screen, and its heads name what a phone shows without them. */
import { html, type Child, type View } from './html.ts'

/** The text of a head, and the classes of its column; an empty one stands above buttons. */
export type TableHead = string | readonly [text: Child, classes: string]

export const Table = ({
  label,
  heads,
  kind = '',
  children,
}: {
  readonly label: string
  readonly heads: readonly TableHead[]
  /** A further class. */
  readonly kind?: string
  readonly children: Child
}): View => html`
  <div class="table-wrap" role="region" aria-label=${label} tabindex="0">
    <table class="table ${kind}">
      <thead>
        <tr>
          ${heads.map((head, at) => {
            const [text, classes] = typeof head === 'string' ? [head, ''] : head
            return html`<th scope="col" key=${at} class=${classes}>
              ${text === '' ? html`<span class="unseen">Actions</span>` : text}
            </th>`
          })}
        </tr>
      </thead>
      <tbody>
        ${children}
      </tbody>
    </table>
  </div>
`
