/** The frame of a table: it scrolls within the screen, and its heads name what a phone shows without them. */
import type { Child, View } from './view.ts'

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
}): View => (
  <div class="table-wrap" role="region" aria-label={label} tabindex={0}>
    <table class={`table ${kind}`}>
      <thead>
        <tr>
          {heads.map((head, at) => {
            const [text, classes] = typeof head === 'string' ? [head, ''] : head
            return (
              <th scope="col" key={at} class={classes}>
                {text === '' ? <span class="unseen">Actions</span> : text}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
